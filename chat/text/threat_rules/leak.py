"""Threat rules: what asks for that which the assistant keeps inside."""

from typing import Final

from chat.text.threat_rules.base import rule

_INNER = (
    r"(?:系统(?:提示词?|提示语|指令|设定|prompt)|系统消息|(?:隐藏|内部|初始|原始|内置|底层|后台|保密|预设|最初|系统级|"
    r"幕后)(?:的)?(?:系统)?(?:指令|提示词?|提示语|规则|设定|消息|说明|配置|信息|设置|prompt)|"
    r"提示词|(?:开发者|开发商|厂商|平台|官方|管理员|系统)(?:给|为|对|写|设|发)(?:你|的|给你|定|下).{0,6}(?:指令|规则|设定|"
    r"要求|提示|消息|内容|指示)|开发者(?:消息|指令|设定|提示)|"
    r"你(?:的)?(?:全部|所有|完整|真实|内部|自己)?(?:的)?(?:设定|规则|指令|提示|prompt|提示语|守则|行为准则|约束条件|初始化)|"
    r"你(?:所)?(?:收到|拿到|被赋予|得到|遵守|遵循|接收|看到|接到).{0,6}(?:指令|规则|设定|提示|要求|消息|内容|指示))"
)
_INNER_EN = (
    r"(?:(?<![a-z])(?:system|developer|hidden|secret|internal|initial|pre-?|confidential|original system|root|master|meta|"
    r"underlying|priming|startup|your|your own|your full|backend)[ -]?"
    r"(?:system |hidden |internal |initial |secret |original |developer |full |complete |exact |entire |private |"
    r"base )?(?:prompts?|messages?|instructions?|directives?|guidelines|rules|preamble|setup|configuration|orders|"
    r"programming|briefing)(?![a-z])|"
    r"(?:instructions?|rules|prompt|text|everything|words|message|lines|guidelines|directives|context|"
    r"tokens)(?: that)? (?:you (?:were|have been|had been|are|got|have received|received|must follow|follow|operate)|"
    r"above this|before (?:this|my|the first|the user)|"
    r"preced\w+ (?:this|the|my)|that precedes?|at the (?:very )?(?:start|beginning|top) of (?:this|the|our|"
    r"your) (?:conversation|chat|context|session|prompt)|(?:loaded|given) (?:in)?to you|in your (?:context|system|setup)))"
)
_WHOLE_TALK = (
    r"(?:完整|全部|整个|整段|所有|全量|一字不漏|全文)(?:的)?(?:上下文|对话历史|对话记录|聊天记录|会话(?:记录|内容|历史)|"
    r"历史对话|历史消息|聊天历史|聊天内容|对话内容|消息历史|上文|工具(?:返回|结果|定义))|"
    r"(?:entire|whole|full|complete|verbatim|all)(?: of)?(?> the| your| this| our| previous| prior| earlier| past|"
    r" raw){0,12}[ ](?:conversation (?:history|log|so far|above|transcript)|conversations? with|chat (?:history|logs?|"
    r"transcripts?)|message history|context(?: window)?(?![a-z ]{0,3}of the (?:poem|text|story))|"
    r"transcript of (?:this|our|every|the) (?:chat|conversation)|prior messages|previous messages|tool (?:results|"
    r"definitions|outputs))"
)
_OTHERS = (
    r"(?:其他|别的|别人|另一位|另一个|其它|另外|所有|每位|其余|各位|隔壁)(?:的)?(?:老师|用户|教师|人|同事|账号|"
    r"使用者)(?:们)?(?:的|所|存|保存|在).{0,10}<ACCOUNT>|"
    r"(?<![a-z])(?:other|another|all|every|different|someone else|anyone else|somebody else|each)(?:'s)?[ ]?(?:teacher|user|"
    r"account|colleague|person|people|member|tenant)?(?:'?s'?)?(?> (?:has|have|had|in|stored|saved|private|personal|own|"
    r"kept|the|system)){0,12}[ ](?:stored|saved|private|memor(?:y|ies)|chats?|chat history|conversations?|profiles?|"
    r"personal notes|saved notes|private notes|stored notes)"
    r"|(?<![a-z])(?:another|other|every|each|all) (?:user|account|tenant|school)s?'?s?'? (?:notes?|files|records|data|"
    r"documents|messages|chats?|profiles?|memor(?:y|ies))"
)
_ABOVE_ALL = (
    r"(?:(?:上面|以上|前面|最上面|最前面|开头|顶部|最开始|一开始|上方|之前)(?:的)?(?>那段|那些|所有|全部|整段|第一条|每一条|"
    r"这些){0,12}(?:的)?(?:隐藏|系统|保密|原始|内部)?(?:的)?(?:内容|文字|消息|文本|设定|提示|信息|指示|话|字)|"
    r"第一条(?:系统)?消息|(?:隐藏|保密|内部|不可见)(?:的)?(?:内容|信息|文本|消息|部分))"
)
_ABOVE_EN = (
    r"(?:(?:words|text|everything|all|anything|content|lines|sentences|tokens|message|paragraphs?)(?: that (?:is|are|was|"
    r"were|appears?|comes?|stands?|came|appeared))?(?: written| printed| placed| found)? (?:above|before (?:this|my|that|"
    r"the first|our)|preceding|prior to)(?! the (?:picture|diagram|table|line|door|board|figure|image))|"
    r"starting with ['\"]?you are|(?:what|everything|anything|whatever)(?: that)? (?:you (?:were|have been|had been|"
    r"are)(?: [a-z]+)? (?:told|given|instructed|asked|forbidden|supposed|programmed)|(?:the |your )?(?:developers?|"
    r"creators?|system|makers?|operators?|admin\w*) (?:told|gave|wrote|said|instructed|asked|put|sent))|(?:message|text|"
    r"instructions?|notes?|rules|lines|words)(?: that)? (?:the |your )?(?:developers?|creators?|system|makers?|operators?|"
    r"vendor|company)(?: have| has| had)? (?:gave|given|wrote|written|sent|put|set|provided|left|hid))"
)
_EXACTLY = (
    r"逐字|原样|一遍|隐藏|开发者|复制|原封不动|一字不|全文|完整|包括|重复|base64|编码|代码块|verbatim|exactly|word for word|"
    r"copy|copying|repeat|quote|in full|hidden|developer|literally|code block|base64|start|begin|reveal|print|output|as is|"
    r"tell me|dump|translate|you are"
)
_KEPT_INSIDE = (
    r"(?:(?:对话|会话|聊天)(?:正式)?开始(?:之)?前[^,;。]{0,8}(?:收到|看到|读|加载|得到|拿到)|你[^,;。]{0,12}(?:收到|被告知|"
    r"被给予|接收到)的(?:全部|所有)?(?:内容|文字|文本|信息|东西)|你(?:启动|初始化|上线|开机|一开始|最初|最先)(?:时|"
    r"的时候)?[^,;。]{0,6}(?:加载|收到|看到|读|得到|拿到|载入)|你(?:被)?(?:要求|规定|告知|指示|命令|限制|"
    r"吩咐)(?:必须)?(?:遵守|遵循|执行|做|不能|保密)|系统(?:角色|层|级|侧|区)|(?:你|模型)(?:收到|看到|接到|读到)的第一(?:句|"
    r"条|段)|(?:用户|别人|我)(?:看不到|看不见|不可见)的|你(?:的)?(?:全部|所有|完整|原始|真实)?(?:的)?(?:提示词|系统设定|"
    r"初始设定|内部规则|底层规则|配置)|(?<![a-z])(?:your|the assistant's|its) (?>own |full |raw |whole |entire |complete |"
    r"hidden |actual ){0,12}(?:configuration|config|context window|context|setup text|system settings|internal state|"
    r"initialisation|initialization|preamble)(?![a-z])|(?:hidden|invisible|secret|internal|confidential) (?:parts?|"
    r"sections?|texts?|contents?|portion|instructions?|context|rules|guidelines) (?:of|in|that|you|before|behind)|"
    r"system settings and prompt|(?:which|what) (?:rules|instructions|guidelines|orders|directives)(?: [a-z]+)? (?:were|are|"
    r"have|had|did|do) you|before the (?:first )?(?:user|conversation|chat)(?:'s)?(?: first)? ?(?:message|turn|input|begins|"
    r"starts)?)"
)
_OTHER_PEOPLE = (
    r"(?:(?:隔壁班|别的班|其他|其它|别的|另一[位个]|某位|上一[位个]|别人|张|王|李|赵|刘|陈)(?:班|的)?[^,;。]{0,4}(?:老师|"
    r"用户|教师|人|家长)?(?:们)?[^,;。]{0,8}(?:存在你|跟你|和你|在你这|告诉你|问(?:过)?你|对你说|的记忆|的笔记|的对话|聊过)|"
    r"(?:你|助手)(?:跟|和|与)(?:其他|别的|别人|另)[^,;。]{0,6}(?:聊|说|谈|对话|讲)(?:过|的)|(?<![a-z])(?:another|other|"
    r"different|previous|the last|someone else|somebody|any other|an earlier) (?:user|teacher|person|people|colleague|"
    r"account|customer|visitor|one)s?(?: [a-z]+){0,3} (?:asked|told|said|wrote|stored|saved|shared|typed|discussed|chatted|"
    r"confided)(?: (?:you|to you|with you|here))?)"
)
RULES: Final = (
    rule(
        "prompt_leak",
        "what are the hidden settings",
        r"what(?:'s| is| are| were| do)(?: all)? (?:your|the) (?:own |full |exact |actual )?(?:hidden|secret|internal|system|"
        r"initial|original|developer|base|core|private|confidential|underlying) (?:settings|rules|instructions|prompts?|"
        r"guidelines|configuration|directives|orders|restrictions)|你(?:的)?(?:隐藏|内部|初始|底层|系统|原始|真实|"
        r"秘密)(?:的)?(?:设定|规则|指令|提示词?|配置|限制|设置)(?:都)?(?:有|是)(?:哪些|什么|啥|几条)",
        unless=r"<PUPIL>",
    ),
    rule(
        "prompt_leak",
        "what did others say",
        r"what (?:did|do|does|have|has) (?:the )?(?:other|another|different|previous|all)(?: [a-z]+)? (?:teachers?|users?|"
        r"people|colleagues?|persons?|schools?)(?: [a-z]+)? (?:tell|told|say|said|ask|asked|share|shared|save|saved|write|"
        r"written|store|stored|want)(?: to| with| in| from)? ?(?:you|memory|here|notes)|(?:其他|别的|其它|另外的?|"
        r"隔壁的?)(?:老师|用户|教师|人|同事)(?:们)?(?:都|又|曾|还)?(?:跟|和|对|向|给|告诉|问)(?:过)?你",
        r"说|讲|问|告诉|聊|tell|told|said|say|ask|share|saved?|written|stored",
        unless=r"<PUPIL>",
    ),
    rule(
        "prompt_leak",
        "what is kept inside, shown",
        r"<REVEAL>|列举|解释|念给|看看|逐行|翻成|display|dump|raw|literally|read|paraphrase|explain",
        _KEPT_INSIDE,
        unless=r"<PUPIL>|课文|(?:不要|别|不得|never|not|don't) ?<REVEAL>",
    ),
    rule(
        "prompt_leak",
        "what others said, shown",
        r"<REVEAL>|看看|讲给|说说|透露|display|dump|show|tell|list",
        _OTHER_PEOPLE,
        unless=r"<PUPIL>|课|meeting",
    ),
    rule(
        "prompt_leak",
        "what stands above, word for word",
        r"<REVEAL>",
        _ABOVE_ALL,
        _EXACTLY,
        r"你|隐藏|系统|开发者|逐字|原样|一字不|原封不动|所有|全部|指令|设定|消息",
        unless=r"<PUPIL>|课文|板书|黑板|图|表格|例题|作文",
    ),
    rule(
        "prompt_leak",
        "what stands above, in English",
        rf"<REVEAL>.{{0,40}}{_ABOVE_EN}",
        unless=r"<PUPIL>|picture|board|textbook|table|diagram|<USER> (?:told|said)",
    ),
    rule(
        "prompt_leak",
        "the inner orders, and showing",
        r"<REVEAL>",
        r"系统(?:的)?(?:提示词|提示语|指令|设定)|你(?>的|收到的|全部的|所有的|初始的){1,12}(?:系统)?(?:设定|指令|提示词?|初始化|"
        r"规则)|开发者(?:的|给你的|写的)?(?:指令|消息|设定|规则|提示)|(?:隐藏|内部|底层|内置)(?:的)?(?:指令|规则|设定|提示词?)|"
        r"(?<![a-z])(?:system|developer|hidden|internal) ?(?:prompts?|messages?|instructions?)(?![a-z])|your (?>(?:own|original|"
        r"initial|full|entire|exact|hidden|secret|internal|system|complete|base|first|private) ){1,12}(?:prompts?|instructions?|"
        r"rules|guidelines|messages?|directives)",
        unless=r"<PUPIL>|exam|lab(?![a-z])|shell|(?:不要|别|不得|never|not|don't) ?<REVEAL>|disk|磁盘|内存|工程|课",
    ),
    rule(
        "prompt_leak",
        "show the inner orders",
        rf"<REVEAL>[^,;]{{0,16}}{_INNER}(?!工程|大赛|写作|\"|：)",
        unless=r"<PUPIL>(?:写|的|要)|你的(?:要求|提示语|规则)",
    ),
    rule(
        "prompt_leak",
        "the inner orders, shown",
        rf"{_INNER}(?!工程|大赛|\").{{0,16}}<REVEAL>",
        unless=r"<PUPIL>(?:写|的|要)|(?:不要|不得|别)<REVEAL>",
    ),
    rule(
        "prompt_leak",
        "ask for the inner orders",
        rf"{_INNER}(?:的)?(?:全文|原文|内容|具体)?(?:都|究竟|到底)?(?:是(?:什么|啥|怎么写|如何)|有(?:哪些|什么|几条)|写了(?:什么|"
        r"些什么|哪些)|怎么写)",
        unless="<PUPIL>|课",
    ),
    rule(
        "prompt_leak",
        "show the inner orders, in English",
        rf"<REVEAL>.{{0,36}}{_INNER_EN}",
        unless=r"<PUPIL>|exam|lab(?![a-z])|shell|handout|(?:never|not|don't) <REVEAL>|equations",
    ),
    rule(
        "prompt_leak",
        "the inner orders, in English",
        rf"{_INNER_EN}.{{0,30}}(?:verbatim|word for word|in full|in (?:a )?(?:code block|base64|french|reverse)|out loud|"
        r"to (?:me|the user)|as (?:is|json)|here|literally|exactly as)",
        unless=r"<PUPIL>|exam|lab(?![a-z])|shell|handout",
    ),
    rule("prompt_leak", "show the whole talk", rf"<REVEAL>.{{0,30}}(?:{_WHOLE_TALK})", unless=r"<PUPIL>|课文|textbook"),
    rule("prompt_leak", "the whole talk, shown", rf"(?:{_WHOLE_TALK}).{{0,16}}<REVEAL>", unless=r"<PUPIL>|课文"),
    rule(
        "prompt_leak",
        "show what others keep",
        rf"<REVEAL>.{{0,36}}(?:{_OTHERS})",
        unless=r"<PUPIL>|(?:start|beginning|end) of (?:each|every|a) (?:chat|conversation)",
    ),
    rule("prompt_leak", "what others keep, shown", rf"(?:{_OTHERS}).{{0,16}}<REVEAL>", unless=r"<PUPIL>"),
)
