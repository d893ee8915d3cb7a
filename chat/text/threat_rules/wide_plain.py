"""Threat rules, in a roundabout way: what is said without a word for orders, prompts or users."""

from typing import Final

from chat.text.threat_rules.base import TEACHING, rule
from chat.text.threat_rules.ideas import SCHOOL

_NOTE: Final = (
    r"(?:(?:这|本|此)(?:一)?(?:条|段|则|个)?(?:备注|笔记|话|规则|条目|记忆|指令|文字)|本条|此条|以上(?:要求|内容|指令)|"
    r"(?<![a-z])this (?:note|entry|rule|instruction|paragraph|memory|line)(?![a-z]))"
)

RULES: Final = (
    rule(
        "role_hijack",
        "a machine whose fences were taken away",
        r"(?<![a-z])(?:assistant|system|model|chatbot|bot|ai|machine|agent)(?![a-z])",
        r"(?:restrictions|guardrails|safeguards|safety (?:filters?|layers?|locks?)|ethics|limits) (?:(?:were|are|was|is|have been|"
        r"got) )?(?:all )?(?:deleted|removed|switched off|turned off|disabled|stripped|lifted)|breaks (?:its|all|every|the) (?:own )?rules|"
        r"without (?:a )?safety locks?",
        unless=rf"{SCHOOL}|alarm|brak(?:e|es)(?![a-z])",
    ),
    rule(
        "prompt_leak",
        "printed by code",
        r"(?:print|echo|return|log|dump|puts)\s*\(?\s*\(?(?:self\.)?(?:system_?prompt|system_?message|developer_?message|"
        r"initial_?prompt)(?![a-z])",
    ),
    rule(
        "deception",
        "this note, never named",
        rf"(?:不要|别|不得|禁止|切勿|勿|never|do not|don't|must not)[^。;.]{{0,16}}(?:提到|提及|提起|体现|显示|mention|refer to|bring up|"
        rf"reveal|cite|learn (?:about|of))[^。;.]{{0,8}}{_NOTE}",
        unless=SCHOOL,
    ),
    rule(
        "persistence",
        "whoever tidies up leaves this",
        r"(?:无论|不管|任凭)(?:是)?谁[^。;]{0,10}(?:清理|整理|删|改|动)[^。;]{0,14}(?:保留|留下|别动|不许动|不能动)|"
        r"(?:whoever|no matter who|anyone who) (?:clean|tid|edit|delet|prun)\w*[^.]{0,30}(?:keep|leave|retain|preserve) (?:this|it)",
        unless=SCHOOL,
    ),
    rule(
        "persistence",
        "handed on to other assistants",
        r"(?:传播|传给|传达|转给|扩散|分发|spread|hand(?:ed)? on|pass(?:ed)? on|propagate)[^。;.]{0,30}(?:其他|别的|其它|下一个|other|"
        r"another|every|next) ?(?:的)?(?:助手|智能体|机器人|模型|assistants?|agents?|bots?|models?)(?![a-z])",
        unless=SCHOOL,
    ),
    rule(
        "authority_grant",
        "done in my name, and not told",
        r"(?:替|代)我(?:签|批|同意|确认|回复|决定)[^。;]{0,10}(?:不用|不必|无需|别)(?:再)?(?:告诉|通知|问|来问|打扰)|"
        r"(?:sign|approve|agree|decide|confirm) (?:on|in) my (?:behalf|name)[^.]{0,30}(?:do not|don't|no need to|without) (?:\w+ )?"
        r"(?:tell|telling|ask|asking|bother)",
        unless=SCHOOL,
    ),
    rule(
        "authority_grant",
        "warnings waved through",
        r"(?:安全|权限|风险)?(?:警告|警示|告警|warnings?|alerts?)(?:框)?[^。;.]{0,12}(?:都|一律|全部|直接|through|always)[^。;.]{0,8}(?:放行|"
        r"点继续|点同意|点确定|忽略掉|press(?:ing)? continue|without asking|click(?:ing)? ok)",
        unless=rf"{SCHOOL}|{TEACHING}",
    ),
    rule(
        "secret_access",
        "searched for secrets",
        r"(?:搜索|搜遍|遍历|翻遍|扫描|(?<![a-z])(?:search|scan|walk|crawl|comb through)(?![a-z]))[^。;.]{0,16}(?:硬盘|磁盘|目录|主目录|"
        r"服务器|电脑|(?<![a-z])(?:disk|drive|director(?:y|ies)|server|computer|machine)(?![a-z]))",
        r"密码|口令|密钥|私钥|凭证|(?<![a-z])(?:passwords?|secrets?|credentials|private keys?)(?![a-z])",
        unless=TEACHING,
    ),
)
