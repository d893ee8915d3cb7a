"""Pure functions on strings; imports neither Django nor our other rooms.

storable   what a database can hold
tokens     counting with tiktoken, or an estimate by character class
dates      days that a text names
features   words and CJK pairs of a text, and the terms it is found by
questions  the questions of a text that asks several things
fold       the form in which people search, and the words around what they find
outline    lines of a text, its headings, and where it may be cut
clip       shortens a long round to what matters for a question
boundary   the untrusted boundary: markers, and cleaning of what stands inside
redlines   the place where sensitive text is taken out of what memory keeps
redline_people  how it sees that somebody is meant
redline_rules  its rules for what is said about people
note_frame  how notes stand in a system prompt
claims     answers that claim to have remembered something
threats    the scan for text that gives the assistant orders, before it goes into a prompt
threat_folding  views of a text in which nothing is hidden
threat_lexicon  the classes of words that its rules are made of
threat_anchors  which rules a text is worth a try
threat_index    makes the index by which it knows, and seals it for a file
threat_rules/   the rules, by what they find
formulas   formulas in Markdown, as MathML
markdown   Markdown to safe HTML
blocks     finds the closed Markdown blocks of a text that still grows
"""
