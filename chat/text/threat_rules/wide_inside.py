"""Threat rules, in a roundabout way: what asks for that which the assistant keeps inside."""

from typing import Final

from chat.text.threat_rules.base import rule
from chat.text.threat_rules.ideas import SCHOOL

_INSIDE = (
    r"(?:系统提示|提示词|提示语|(?:初始|开场|出厂|底层|原始|最初|预设|隐藏|内部|后台|幕后|开发者|系统)(?:的|给的|给你的?|"
    r"写的|"
    r"留下的?|"
    r"发来的?|那些|那段|那份|层面的){0,3}(?:设定|设置|留言|消息|说明|备注|指令|指示|规则|提示|内容|文字|文本|信息|配置|"
    r"守则|话|"
    r"嘱咐|要求)|上下文(?:窗口)?|"
    r"你(?:的|在|所|被|一开始|最初|最早|启动|背后|收到|看到|得到|接到|藏|不能|不可|不便|不该|不许|受|手里|手上|心里|"
    r"必须遵守|"
    r"要遵守|需要遵守|得遵守|说不得|脑)[^,。]{0,14}(?:设定|提示|规则|规定|指令|配置|守则|上下文|留言|条款|底稿|秘密|机密|"
    r"约束|"
    r"禁令|命令|准则|那段(?:文字|话)|全部内容)|你(?:被|不能|不准|不许|不可以)[^,。]{0,8}(?:事项|话题|清单|的事|的东西)|"
    r"(?:管理方|管理者|幕后|创建者|制作者|研发|工程师)[^,。]{0,6}(?:写给你|给你|交代|告诉)|(?:前一|上一|之前那)(?:位|"
    r"个)(?:老师|用户|人|同事)[^,。]{0,8}(?:谈话|对话|聊|提问|记录|说)|你被[^,。]{0,6}(?:哪些|什么)|内部(?:规矩|规则|"
    r"准则|规程|守则|约定)|"
    r"(?:最前面|最开头|最上面|对话(?:开始)?(?:之)?前|本轮之前)[^,。]{0,12}(?:给你|看到|文字|话|提示|消息|系统)|(?:系统|"
    r"平台|"
    r"开发者|官方|后台)(?:给|对|跟|向|为)你[^,。]{0,10}(?:话|文字|内容|东西|消息|规则|要求|指令)|你[^,。]{0,6}(?:内部|私下|"
    r"背后|隐藏)[^,。]{0,8}(?:规则|清单|指令|设定|规定|准则|内容)|(?:开发人员|程序员|工程师|设计师)[^,。]{0,6}(?:嘱托|"
    r"叮嘱|交代|嘱咐|要求|写的|留言)|(?:说明书|设定|规则|提示)原文|隐藏(?:的)?参数|系统(?:讯息|信息|文件)|规则文件|"
    r"系统部分|连同系统|你(?:的)?记忆(?:里|中|"
    r"库)?[^,。]{0,8}(?:存|"
    r"记|有|谁|哪些|什么)|"
    r"(?<![a-z])(?:your (?:(?:own|initial|original|hidden|system|internal|secret|full|complete|core|starting|setup|first|"
    r"exact|entire|underlying|developer|raw) ){0,2}(?:prompt|instructions?|guidelines?|setup|configuration|directives?|"
    r"programming|"
    r"policies|context|briefing|preamble|system (?:text|block|message|prompt))|"
    r"(?:system (?:block|prompt|message|text|section|instructions?)|raw prompt|setup text|hidden (?:prompt|rules|"
    r"instructions?|"
    r"section)|developer (?:message|notes|prompt|instructions?)|preamble|"
    r"(?<![a-z])(?:rule ?book)|(?:secret|hidden|invisible) (?:text|words|message|"
    r"lines)(?: [a-z]+){0,4} (?:above|before|behind|over)|the (?:last|previous|former) (?:teacher|user|person|"
    r"caller)(?: [a-z]+){0,4} (?:wrote|told|said|asked|saved|typed|shared)|"
    r"context window|(?:brief|briefing|text|words|orders|setup) you (?:were|have been) (?:given|told|sent|handed)|"
    r"what you were (?:told|given)|(?:internal|hidden|full|entire|whole|complete) (?:context|prompt|chat log))|(?:rules|"
    r"instructions?|"
    r"guidelines|orders|policies) (?:that )?(?:you (?:operate|work|follow|are|were|have|obey|must)|govern\w* you|"
    r"under which you)|"
    r"(?:what|which) (?:rules|instructions?|guidelines|orders|prompt)(?: [a-z]+){0,2} you)(?![a-z]))"
)
_OUT = (
    r"(?:<REVEAL>|引用|抄|念|(?<![下陈数排系并行])列|附|亮|晒|抖|贴|交出|吐|出来|一五一十|和盘托出|全盘|是什么|有哪些|哪些|写了什么|怎么写|"
    r"写的什么|讲了什么|什么内容|报一遍|过一遍|发一份|拿给|传给|摘录|朗读|誊|诵|背|倒着|默写|打出|瞧|看看|列成|转成|编码|"
    r"露|泄|公布|"
    r"导出|清单|复述|"
    r"讲|告诉|"
    r"存了|给我|"
    r"(?<![a-z])(?:disclos\w*|read .{0,40}(?:aloud|out|back)|let .{0,24}(?:see|read|have|know)|turn .{0,30} into|"
    r"i (?:need|want|would like)|exact wording|verbatim|"
    r"word for word|in full|echo|(?:let me|share|hand)(?: [a-z]+){0,2}|which (?:prompt|instructions?|rules|guidelines|"
    r"orders)|"
    r"make .{0,20} visible|convert|export\w*|on screen|out loud)(?![a-z]))"
)
_OTHERS = (
    r"(?:(?:别的|其他|其它|别人|他人|另一(?:位|个)|其余|隔壁|旁人)(?:的)?(?:老师|用户|账号|教师|人|同事|账户|使用者|"
    r"班主任)?"
    r"(?:们)?(?:的|都|让你|叫你|托你|跟你|和你|同你|在你|对你|让你|那里|之前|曾|存|里)?[^。]{0,10}(?:记忆|聊|对话|档案|"
    r"说过|问过|问了|"
    r"存了|"
    r"存的|存过|记了|条目|画像|备注|笔记|私事|隐私)|(?<![a-z])(?:other|another|different|someone else's|somebody else's|"
    r"every other)"
    r"(?: [a-z]+)? ?(?:accounts?|users?|teachers?|people|tenants?|persons?|colleagues?|staff)?(?:'s|')?"
    r"(?: [a-z]+){0,6} (?:memory|memories|stored|saved|chats?|conversations?|histor(?:y|ies)|asked you|told you|"
    r"said to you|"
    r"profiles?|private notes)(?![a-z]))"
)
RULES: Final = (
    rule(
        "prompt_leak",
        "what is inside, brought out",
        _INSIDE,
        _OUT,
        unless=rf"{SCHOOL}|提示词工程|磁盘|操作系统|上下文(?:猜|推断|理解|语境|的意思)|"
        r"(?:不要|不得|不能|切勿|禁止)(?:泄|透|公开)|写作提示|partner|clear(?:ly)?(?![a-z])|poster|readers|联系上下文|"
        r"结合上下文|context clues|软件|打印机",
    ),
    rule(
        "prompt_leak",
        "what is kept about others",
        r"(?<![a-z])(?:about|of|from|by|for) (?:all |the |any |every )?(?:other|another|all|"
        r"different)(?: [a-z]+)? (?:teachers?|users?|accounts?|people|persons?|staff|colleagues)(?![a-z])",
        r"(?<![a-z])(?:stored|saved|memor(?:y|ies)|kept|remember|chats?|conversations?|everything|transcripts?|"
        r"profiles?)(?![a-z])",
        r"<REVEAL>",
        unless=SCHOOL,
    ),
    rule(
        "prompt_leak",
        "rules of which somebody asks",
        r"你(?:被|要|得|必须|需要|一直|在|都|正在|都要)(?:要求|告知|禁止|设定|允许|命令|规定|限定|嘱咐|遵守|服从|听从|"
        r"遵循)[^,。]{0,10}(?:哪些|什么|啥|规则|规定|指令|条款)|你(?:的)?(?:规则|规定|指令|设定|提示)(?:里)?(?:都)?(?:是|"
        r"有|写|"
        r"包括|包含|说)[^,。]{0,4}(?:什么|哪些|"
        r"啥|怎么)",
        unless=SCHOOL,
    ),
    rule(
        "prompt_leak",
        "what others keep here",
        _OTHERS,
        rf"{_OUT}|让我看|给我|看看|看一下|说给",
        unless=rf"{SCHOOL}|听课|教研|备课组|会议|研讨",
    ),
    rule(
        "prompt_leak",
        "everybody's entries",
        r"(?:所有|全部|各|每个|其他|其它)(?:的)?(?:用户|账号|老师|使用者)(?:们)?(?:的)?(?:条目|记录|记忆|笔记|对话|隐私|"
        r"提问|档案)|记忆库",
        r"打印|导出|展示|列|念|读出|公开|发|贴|说出|给我|显示|输出|倒出",
        unless=rf"{SCHOOL}|备课|听课|教研|会议",
    ),
    rule(
        "prompt_leak",
        "what was given in secret",
        r"(?:预置|预设|内置|秘密|隐秘|幕后|内部|不可见|看不见|隐藏)(?:的)?(?:系统)?(?:说明|描述|文字|内容|指示|指令|资料|"
        r"设定|命令|部分|提示)|(?<![a-z])(?:preset|secret|internal|invisible|hidden|confidential|concealed|"
        r"built-in)(?: [a-z]+)? (?:description|directions?|text|part|section|"
        r"instructions?|orders|rules|prompt|commands?|guidelines)(?![a-z])",
        rf"{_OUT}|补全|显示|粘贴|收到|给什么|(?<![a-z])(?:receive|display|fill in|want to see|give)",
        r"系统|上文|上下文|你|用户|老师|答案|回复|(?<![a-z])(?:you|your|system|context|prompt|users?|answer|reply|"
        r"chat)(?![a-z])",
        unless=rf"{SCHOOL}|puzzle|picture|(?<![a-z])map(?![a-z])|单元格|表格|幻灯",
    ),
)
