"""Answers that claim to have remembered something (specs/notes_memory.md §4 row 36).

Only what the model says of itself counts, as a thing done or promised. What it quotes, puts into code or says of others,
and what it denies, asks or makes a condition, does not.
"""

import re

_CODE = re.compile(r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)|`[^`\n]*`", re.DOTALL)
_QUOTED = re.compile(r"“[^”\n]*”|「[^」\n]*」|『[^』\n]*』|《[^》\n]*》|\"[^\"\n]*\"|^ *>.*$", re.MULTILINE)
_SENTENCES = re.compile(r"[^。！？!?；;\n]+[。！？!?；;]?")

_PLACE = r"(?:我的|你的|长期)?(?:笔记|记忆|备忘|档案|MEMORY\.md|USER\.md)"
# The assistant speaks of itself: at the beginning of a clause, with or without “I” and words of politeness before it.
_START = r"(?:^|[，,：:、—\s*])(?:好的?|嗯|行|没问题|明白了?|收到|了解)?[，,\s]*"
_FOR_YOU = r"(?:帮|为|替|给)[你您]"
_THIS = r"(?:把|将)(?:这|它|此|你|您|上|以)[^，,。]{0,20}?|(?:这|以上|上面|你说|您说)[^，,。]{0,12}?"
_MORE = rf"(?:也|就|都|这就|现在|马上|以后|今后|一定|{_FOR_YOU}|{_THIS})"
_DONE = r"(?:已经|已|刚刚|刚才|刚)"
_ANY = rf"(?:我们?|助手|{_DONE}|{_MORE})"
_CLAIMS = [
    re.compile(rf"{_START}{_ANY}{{0,5}}?(?:记住|记下|记好)(?:来)?(?:了|啦)"),
    re.compile(rf"{_START}{_ANY}{{0,4}}?{_DONE}{_ANY}{{0,3}}?(?:记住|记下|记好|(?:记录|保存|存好|存下)(?!在|于|到|进|为|成))"),
    re.compile(rf"{_START}{_ANY}{{0,3}}?(?:我|{_FOR_YOU}){_ANY}{{0,3}}?(?:保存|存好|存下|记录)(?:好|下来)?了"),
    re.compile(rf"{_START}{_ANY}{{0,2}}?我{_MORE}{{0,2}}?会(?:一直|好好|牢牢|永远)?(?:记住|记得|记下)"),
    re.compile(rf"{_DONE}[^，,。]{{0,24}}?(?:记|写|存|加|添加|保存|更新|录|放)(?:进|入|到|在|至)了?\s*{_PLACE}"),
    re.compile(rf"(?:记|写|存|加|添加|保存|更新|录|放)(?:进|入|到|至)了?\s*{_PLACE}(?:里|中)?了"),
    re.compile(rf"{_DONE}(?:更新|修改|改好|改写)(?:了|好了?)?\s*{_PLACE}|{_PLACE}\s*(?:已经|已)(?:更新|保存|记下|写好|改好)"),
]
_ENGLISH = re.compile(
    r"\b(?:I(?:'ve|’ve| have)?(?: just| now| also| already)?"
    r" (?:saved|remembered|noted|stored|recorded|memori[sz]ed|added (?:this|that|it) to (?:my|your|the) (?:notes?|memory)|made a note)"
    r"|I(?:'ll|’ll| will)(?: always| now)? (?:remember|keep (?:this|that|it) in mind|make a note))\b"
    r"|(?:^|[.!—:] )(?:Okay|OK|Sure|Got it|Done|Alright)?[,.:!— ]*"
    r"(?:\b(?:this|that|it|your preference|the note) (?:is|has been|was) (?:now )?)?\b[Ss]aved"
    r" (?:to|in|into) (?:my |your |the )?(?:notes?|memory|MEMORY\.md|USER\.md)"
    r"|(?:^|[.!—:] )(?:Okay|OK|Sure|Got it|Done|Alright)?[,.:!— ]*(?:Remembered|Saved|Noted and saved)(?: it| that| this)?[.,!]?$"
    r"|\b(?:has|have) been (?:saved|added|written|stored) (?:to|in|into) (?:my|your|the) (?:notes?|memory)\b",
    re.IGNORECASE,
)
_NOT = re.compile(
    r"没有?(?:能|法)?[^，,。]{0,6}(?:记|存|写)|未(?:能|曾)?(?:记|保存|写)|尚未|还没|(?:不|无法|没法|不能|不会|不可)(?:会|能|再|直接)?(?:帮你|为你)?(?:记|保存|写)"
    r"|如果|假如|要是|若|是否|是不是|吗|[？?]$|请你?(?:记住|记下|保存)|让我记住"
    r"|\b(?:not|n't|n’t|never|cannot|unable|if|whether|unless|failed)\b",
    re.IGNORECASE,
)
# Without one of these there is nothing to look for; most answers are done here.
_WORDS = ("记", "存", "写入", "写进", "加入", "加到", "添加到", "更新", "save", "remember", "note", "stored", "record", "memor", "keep")


def claims_saved(text: str) -> bool:
    """Whether the answer says that its writer has remembered, or will remember, something."""
    lowered = text.lower()
    if not any(word in lowered for word in _WORDS):
        return False
    plain = _QUOTED.sub("", _CODE.sub("", text))
    return any(_is_claim(sentence[0].strip()) for sentence in _SENTENCES.finditer(plain))


def _is_claim(sentence: str) -> bool:
    bare = sentence.lstrip("#*->•· 0123456789.、").replace("**", "").rstrip("。.!！")
    return not _NOT.search(sentence) and (any(one.search(bare) for one in _CLAIMS) or bool(_ENGLISH.search(bare)))
