"""Whether a message itself asks for a change of the notes: by rule, in Chinese and English (DESIGN §5 Notes).

Only the teacher's own words count. What is quoted, what stands in code, the material behind "总结下面这段：" and all but the
opening of a long message may be anybody's text, and a sentence in it must write nothing. In doubt the answer is no: then the
write waits for the teacher, which is one click.
"""

import re
from typing import Final, Literal

Ask = Literal["add", "replace", "remove", "refresh"]
_ASKS: Final[tuple[Ask, ...]] = ("add", "refresh", "replace", "remove")

SHORT_CHARS, SHORT_LINES, OPENING_CHARS = 300, 6, 200
_GAP: Final = "□"  # stands where something was quoted
_FENCED: Final = re.compile(r"(?:```|~~~).*?(?:```|~~~|\Z)", re.DOTALL)
_QUOTED_LINE: Final = re.compile(r"^[ \t]*[>＞|].*$", re.MULTILINE)
_QUOTED: Final = re.compile(
    r"「[^」]*(?:」|\Z)|『[^』]*(?:』|\Z)|“[^”]*(?:”|\Z)|‘[^’]*’|《[^》]*》|〈[^〉]*〉|«[^»]*»|<[^>]*>|\"[^\"]*(?:\"|\Z)|(?<!\w)'[^'\n]*'(?!\w)"
)
# Somebody's text follows the colon: a word that says what to do with it, or that it comes.
_MATERIAL: Final = re.compile(
    r"(?:总结|概括|归纳|翻译|译成|润色|改写|重写|缩写|扩写|续写|仿写|分析|解释|批改|批阅|点评|评价|校对|检查|朗读|阅读|读一?[读下]|看一?[看下]"
    r"|回复|回信|提取|整理成|排版|转换|造句|出题|命题|根据|参考|以下|下面|如下|下文|下列|这[段篇封份则首句]|原文|材料|全文|文章|文档|课文|来信|邮件|通知"
    r"|summari[sz]e|translate|rewrite|proofread|explain|analy[sz]e|comment on|reply to|review|check|read|following|below"
    r"|this (?:text|letter|document|email|passage|article)|here is|the text)[^\n]{0,80}[:：]",
    re.IGNORECASE,
)

# A first line that is about the lines below it, and a line with which a letter begins.
_ABOUT_THE_REST: Final = re.compile(
    r"(?:总结|概括|归纳|翻译|译成|润色|改写|重写|缩写|扩写|续写|仿写|批改|批阅|点评|评价|校对|检查|回复|回信|提取|排版|分析|解释)"
    r"|怎么[回改写说]|怎样[回改写说]|如何[回改写说]|什么意思|通顺|[？?吗]\s*$"
    r"|\b(?:summari[sz]e|translate|rewrite|proofread|explain|analy[sz]e|comment on|reply|review|check)\b",
    re.IGNORECASE,
)
_LETTER: Final = re.compile(r"\n\s*(?:[^\n，,。]{0,12}(?:您好|你好)|尊敬的|亲爱的|敬爱的|dear\b|hi\b|hello\b)", re.IGNORECASE)

_ENDS: Final = re.compile(r"[。！!；;？?，,\n]|\.(?=\s|$)")
# What may stand between the beginning of a clause and a command.
_LEAD: Final = (
    r"^\s*(?:(?:嗯|好的?|行|那么?|对了|另外|还有|顺便|然后|最后|同时|以及|并且?|再|也|先|首先|还要|ok|okay|and|also|then|so|now)[\s,，、]*)*"
    r"(?:请你?|麻烦你?|烦请|拜托|务必|一定要?|千万要?|please\s+|pls\s+)?(?:你|您|助手)?(?:可以|可不可以|能不能|能否|能|要|得|也|都|再|先|一定|务必){0,2}"
    r"(?:请|麻烦)?(?:(?:帮|给|替|为)我们?)?"
    r"(?:(?:can|could|would|will) you\s+|i(?:'d like| want) you to\s+|please\s+|also\s+){0,2}"
)
_PUT: Final = r"(?:[把将](?P<thing>.{1,60}?)(?:都|也|给我?|再|一起)?)?"
_NOTE: Final = (
    r"(?:[那这]一?条|那个条目|条目|第\s*[\d一二三四五六七八九十]+\s*条|笔记|记忆|画像|备忘|MEMORY|USER\.md|[你您]?(?:之前|以前|上次|原来)?记(?:住|下|得|着|录)?的"
    r"|\b(?:notes?|memor(?:y|ies)|entry|entries|profile|what you (?:know|remember\w*|noted|saved))\b)"
)
_STORE: Final = r"(?:(?:你的|我的|长期)?(?:笔记|记忆|画像|备忘录?|MEMORY(?:\.md)?|USER\.md)|(?:the |your |my )?(?:notes?|memory|profile))"
_LATER: Final = r"(?:以后|今后|往后|从现在(?:起|开始)|从今(?:以后|往后|天起)|从下次(?:起|开始)|日后)"
KEEP: Final = (
    r"(?:记住|记下来?|记一下|记一记|记好|记牢|记着|牢记|谨记|记录下来|记录一下)"
    r"(?!的|了[吗么没？?]|没有?|不住|什么|哪|谁|多少|几)"
)

_ADD: Final = (
    re.compile(rf"{_LEAD}{_PUT}{KEEP}", re.IGNORECASE),
    re.compile(rf"{_LEAD}(?:请)?记得(?:我|{_LATER}|每次)", re.IGNORECASE),
    re.compile(
        rf"{_LEAD}{_PUT}(?:写|存|保存|加|添加|新增|增加|补充|收|放|录|记)(?:上|一条|一下|到|进|入|在|个){{0,2}}.{{0,30}}?{_STORE}",
        re.IGNORECASE,
    ),
    re.compile(rf"{_LEAD}(?:我们?)?{_LATER}.{{0,12}}(?:都|请|一律|总是|每次|不要|别|统一|默认|用|按|叫我|称呼我)", re.IGNORECASE),
    re.compile(
        rf"^(?:[这那上以刚前此]|我(?:说|讲|提))(?:(?!学生|孩子|同学|家长|他们|她们|大家|让|使|要求).){{0,20}}?(?:也|都|要|请|得|你|一定|务必|帮我|给我)*{KEEP}"
    ),
    re.compile(
        rf"{_LEAD}(?:remember\b(?! (?:when|how|to (?!always|never)|the time|what|if|whether))|memori[sz]e\b|keep in mind\b|bear in mind\b"
        r"|make a note\b|take note\b|note (?:it |this |that )?down\b|write (?:this|that|it) down\b|don't forget that\b|do not forget that\b"
        rf"|(?:add|save|store|put|write|note)\b.{{1,60}}?\b(?:in|to|into|as)\s+{_STORE}|(?:add|save|make)\s+a\s+note\b)",
        re.IGNORECASE,
    ),
    re.compile(rf"{_LEAD}(?:from now on|in (?:the )?future,? (?:please|always|never)|going forward)\b", re.IGNORECASE),
)
_NO_ADD: Final = re.compile(
    r"(?:不要|别|不用|不必|不需要|不许|不准|无需|没必要|请勿|切勿|勿|莫|不想(?:让|要)你|不希望你)[^，,。；;]{0,8}?"
    r"(?:记住|记下|记录|记一|记着|记我|记这|记那|记得|记在|记到|记进|再记|保存|存[下进到入])"
    r"|(?:don't|do not|never|no need to|need not|shouldn't|should not|please not)\s+(?:\w+\s+){0,2}"
    r"(?:remember|memori[sz]e|save|store|note|keep)\b",
    re.IGNORECASE,
)
_DROP: Final = r"(?:删掉|删除|删去|删了|去掉|去除|移除|清除|划掉|抹掉|撤掉|拿掉)"
_FORGET: Final = re.compile(
    rf"{_LEAD}{_PUT}(?:忘掉|忘记|忘了|不用再?记|不必再?记|不需要再?记|无需再?记|别再记|不要再记|别记了)"
    rf"|^[^，,]{{1,40}}(?:不用|不必|不需要|无需)再?记(?:住|着|得|了)?|{_LEAD}forget\b(?! (?:to|it\b))|no need to remember|stop remembering",
    re.IGNORECASE,
)
_NO_FORGET: Final = re.compile(
    r"(?:别|不要|勿|没|难|不会|不能|千万别|切勿)(?:再|要)?忘|(?:don't|do not|never|didn't|can't|cannot)\s+forget", re.IGNORECASE
)
_REMOVE: Final = re.compile(rf"{_LEAD}{_PUT}{_DROP}|{_LEAD}(?:delete|remove|erase|drop)\b|{_NOTE}.{{0,12}}?{_DROP}", re.IGNORECASE)
_CHANGE: Final = r"(?:更新|改成|改为|改一下|改掉|换成|换为|修改|更正|纠正|修正|替换|调整)"
_REPLACE: Final = re.compile(
    rf"{_LEAD}{_PUT}{_CHANGE}|{_LEAD}(?:update|change|replace|correct|amend|edit)\b|{_NOTE}.{{0,12}}?{_CHANGE}", re.IGNORECASE
)
_TIDY: Final = re.compile(rf"{_LEAD}{_PUT}(?:整理|合并|精简|压缩|清理|tidy|consolidate|merge|clean up|condense)", re.IGNORECASE)
# The notes that the assistant keeps, not those of a lesson or a meeting.
_OWN_NOTES: Final = re.compile(
    r"(?:你的?|我的?|长期)(?:的|记的)?(?:笔记|备忘)|记忆(?!曲线|方?法|术|力|规律)|画像|MEMORY\b|USER\.md|你记(?:住|下|得|着|录)?的"
    r"|\b(?:your|my) (?:notes|memory|profile)\b",
    re.IGNORECASE,
)
_REFRESH: Final = re.compile(
    rf"{_LEAD}{_PUT}(?:刷新|重新?(?:读取?|加载|载入|导入|同步)|重读|refresh\b|reload\b|re-?read\b).{{0,12}}?{_STORE}"
    rf"|{_LEAD}[把将].{{0,12}}?{_STORE}.{{0,6}}?(?:刷新|重新?(?:读|加载|载入)|重读)",
    re.IGNORECASE,
)
_SAID: Final = re.compile(r"^\s*我们?(?!的|想|要|希望|需要)(?:已经?|刚刚?|上次|昨天|之前|改|更新|删|替换|修改)")  # a report, no request
_POLITE: Final = re.compile(
    r"^\s*(?:请|麻烦|可以|可不可以|能不能|能否|能|帮|你能|您能|can you|could you|would you|will you|please)", re.IGNORECASE
)
_QUESTION: Final = re.compile(r"什么|哪|谁|怎么|怎样|如何|为何|多少|几|\b(?:what|which|who|where|when|why|how)\b", re.IGNORECASE)
_ASKING: Final = re.compile(r"(?:吗|么|没有?|呢)$")


def asks_for(input: str, verb: Ask, *, about: str = "") -> bool:
    """Whether the message asks for that change; `about` is the old text that a call names, by which also "把 A 改成 B" is one."""
    own = own_words(input)
    names_it = len(about.strip()) > 1 and _flat(about) in _flat(own)
    named = [_flat(match[0][1:-1]) for match in _QUOTED.finditer(own)]
    if verb in ("replace", "remove") and about and named and not names_it and not any(one and one in _flat(about) for one in named):
        return False  # "删掉『临时备注』那条" is no leave for another entry
    return any(_asks(clause, verb, names_it=names_it) for clause in _clauses(_QUOTED.sub(_GAP, own)))


def _flat(text: str) -> str:
    return " ".join(text.split()).casefold()


def own_words(input: str) -> str:
    """What the teacher says of the message, quoted words still in it."""
    text = _QUOTED_LINE.sub("", _FENCED.sub("", input.replace("\r\n", "\n"))).strip()
    lines = [line for line in text.split("\n") if line.strip()]
    if len(text) > SHORT_CHARS or len(lines) > SHORT_LINES:
        text = lines[0][:OPENING_CHARS]
    elif len(lines) > 1 and _ABOUT_THE_REST.search(lines[0]):
        text = lines[0]
    elif letter := _LETTER.search(text):
        text = text[: letter.start()]
    found = _MATERIAL.search(_QUOTED.sub(lambda match: _GAP * len(match[0]), text))
    if found and not any(
        _asks(clause, verb) for clause in _clauses(text[: found.end() - 1]) for verb in _ASKS if verb in ("add", "refresh")
    ):
        return text[: found.end()]
    return text


def _clauses(text: str) -> list[str]:
    """The clauses with their end marks; what follows "记住：" on its line is what shall be kept and no further command."""
    found, start = [], 0
    while start < len(text):
        match = _ENDS.search(text, start)
        end = match.end() if match else len(text)
        clause = text[start:end].strip()
        if clause:
            head, colon, _ = re.sub("：", ":", clause).partition(":")
            if colon and any(_asks(head, verb) for verb in _ASKS if verb != "refresh"):
                end = text.find("\n", start)
                end = len(text) if end < 0 else end + 1
                clause = head
            found.append(clause)
        start = end
    return found


def _asks(clause: str, verb: Ask, *, names_it: bool = False) -> bool:
    if _is_question(clause):
        return False
    if verb == "refresh":
        return bool(_REFRESH.search(clause))
    is_about_notes = bool(re.search(_NOTE, clause, re.IGNORECASE))
    if _OWN_NOTES.search(clause) and _TIDY.search(clause):
        return True
    if verb == "add":
        return not _NO_ADD.search(clause) and any(pattern.search(clause) for pattern in _ADD)
    if _SAID.search(clause):
        return False
    if verb == "remove" and _FORGET.search(clause) and not _NO_FORGET.search(clause):
        return True
    pattern = _REMOVE if verb == "remove" else _REPLACE
    is_negated = re.search(rf"(?:不要|别|不用|不必|请勿|don't|do not|never)\s*(?:{_DROP}|{_CHANGE}|\w*)", clause, re.IGNORECASE)
    return bool(pattern.search(clause)) and not is_negated and (is_about_notes or names_it)


def _is_question(clause: str) -> bool:
    ends_so = clause.endswith(("？", "?")) or bool(_ASKING.search(clause.rstrip("。！!，,")))
    return ends_so and (not _POLITE.search(clause) or bool(_QUESTION.search(clause)))
