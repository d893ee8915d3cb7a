"""Thin commands; the work is done in the rooms.

up               web and worker under one parent
web              the web server
worker           the background
demo             the demo schools
api_token        bearer tokens
doctor           is everything well
recall_log       what recall keeps, out and in
notes_move       notes into the storage in use
reindex          the search indexes anew
redlines         how well the filter for sensitive text does on a file
threats          how well the scan for orders to the assistant does on a file
token_ranks      fetches the ranks for exact token counts
compile_locales  compiles the translations
compile_threats  compiles the index of the threat rules
"""
