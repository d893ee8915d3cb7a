"""Rows.

ids         text keys with a prefix and 100 random bits
tenancy     Tenant, Membership, Preference, ApiToken
agent       Provider, Agent, AgentMode
thread      Thread, Summary
reading     queries in plain SQL that are asked with each message
writing     writes of rows in plain SQL, for those of each message
opened      a thread with its relations, as messages and pages need it
run         Run, RunLedger
core        Fact, Candidate, Decision, CoreEvent, RedlineRecord
postings    SearchIndex, SearchTerm, SearchBlock: packed postings of an owner
vectors     VectorBlock: packed vectors of an owner, for search by meaning
recall      RecallEntry
knowledge   Document, DocumentFile, Passage
remote      RemoteScope, RemoteSession, RemoteGap, RemoteFigure: what is kept of a memory backend outside
notes       NoteText, NoteOp, NoteReview, NoteGuard, NoteSnapshot, Notice
consent     Consent: what a teacher said before text goes to another vendor
search      SearchText: titles and messages as people search them
work        Work, LayerState, WorkerBeat: what the worker has to do and how far each layer is
usage       MemoryOp
"""

from chat.models.agent import Agent, AgentMode, Provider
from chat.models.consent import Consent
from chat.models.core import Candidate, CoreEvent, Decision, Fact, RedlineRecord
from chat.models.knowledge import Document, DocumentFile, Passage
from chat.models.notes import NoteGuard, NoteOp, NoteReview, NoteSnapshot, NoteTarget, NoteText, Notice
from chat.models.postings import SearchBlock, SearchIndex, SearchTerm
from chat.models.recall import RecallEntry
from chat.models.remote import RemoteFigure, RemoteGap, RemoteScope, RemoteSession
from chat.models.run import Run, RunLedger
from chat.models.search import SearchText
from chat.models.tenancy import ApiToken, Membership, Owner, Preference, Tenant
from chat.models.thread import Summary, Thread
from chat.models.usage import MemoryOp
from chat.models.vectors import VectorBlock
from chat.models.work import LayerState, Work, WorkerBeat

__all__ = [
    "Agent",
    "AgentMode",
    "ApiToken",
    "Candidate",
    "Consent",
    "CoreEvent",
    "Decision",
    "Document",
    "DocumentFile",
    "Fact",
    "LayerState",
    "Membership",
    "MemoryOp",
    "NoteGuard",
    "NoteOp",
    "NoteReview",
    "NoteSnapshot",
    "NoteTarget",
    "NoteText",
    "Notice",
    "Owner",
    "Passage",
    "Preference",
    "Provider",
    "RecallEntry",
    "RedlineRecord",
    "RemoteFigure",
    "RemoteGap",
    "RemoteScope",
    "RemoteSession",
    "Run",
    "RunLedger",
    "SearchBlock",
    "SearchIndex",
    "SearchTerm",
    "SearchText",
    "Summary",
    "Tenant",
    "Thread",
    "VectorBlock",
    "Work",
    "WorkerBeat",
]
