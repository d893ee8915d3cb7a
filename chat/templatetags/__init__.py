"""Tags and filters of templates.

format           times, durations and numbers
frame            the product's name and icons
memory           ages and confidence of the memory panel
threats          marks of what is kept out of prompts
school_overview  the figures above the admin site's index
"""
