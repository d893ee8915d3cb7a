"""Knowledge (L4): documents of a teacher or a school, read into passages that answers cite (DESIGN §5).

keep       what people do with documents: add, replace, choose assistants, read again, delete
erasing    documents, their passages and what ledgers tell of them, gone at once
passages   passages and their places in the owner's search index
reading    the worker's part: from a file to passages that answer
shelf      what an assistant can look up for a teacher
find       the passages that a question is about
telling    passages as the model sees them, with their [n]

Documents are of the transcript's class (DESIGN §7): the teacher or the school wrote them, and they stay as they are
written. So passages do not pass the filter of the red lines, which would black out the invented pupils of every exercise
book. They stand behind the same wall as the file: a passage, its place in the owner's index and its words in a ledger are
seen by whom the file may be seen by, are never logged, and go when it goes. They are sent to the model service of an
assistant that was chosen for the document, and to no other without the filter and the teacher's consent. What is derived
from an answer that cites them (summary, recall entry, candidate) passes the filter as always.

While memory is off and in an incognito thread no document is asked: there only the running conversation works (DESIGN §2).
"""
