"""Threat rules for what is said to the assistant about itself: its orders, its part, what it keeps inside, and what it hides."""

from typing import Final

from chat.text.threat_rules import Rule, rule

# Words that may stand between a verb and its object, in any number and order.
_LINK = r"(?:的|地|了|掉|过|那些|这些|那|这|里面|里|中|给|到|上|下|和|与|及|或|以及|、|,|\"|'|条|套|个|些|该|所|有关|关于|已|" r"的话| |:)"
_OF_WHICH = rf"(?><OLD>|<ALL>|<YOURS>|{_LINK})"
_EN_LINK = (
    r"(?:(?<![a-z])(?:the|these|those|that|this|of|and|or|my|our|its|their|set|sets|more|kind|kinds|a|an|to|as|by|with|in|from|you|been|"
    r"given|were|have|had|has|which|about|list|out|aside|away|up|off|so|called|even|just|only)(?![a-z])|[ ,\"'\-/])"
)
_EN_OF_WHICH = rf"(?><OLD>|<ALL>|<YOURS>|{_EN_LINK})"
_STRONG = r"(?><OLD>|<ALL>|<YOURS>)"
# "…, which you were given", behind the noun.
_GIVEN_EN = (
    r"[ ,]{1,2}(?:(?:that|which)[ ])?(?:above|before (?:this|that|now|me)|so far|preceding this|that c[ao]me before|"
    r"(?:you|it|the (?:assistant|model|ai)) (?:were|was|have been|has been|had been|are|is|have|had|got|received?|(?:currently )?follow|obey|came|"
    r"started)|given to you|(?:provided|written|set|imposed|issued|laid down) (?:to|for|on|by)|from (?:your|the) "
    r"(?:developers?|system|admin\w*|creators?|platform|operators?|vendor|company)|in (?:your|the) (?:system|context|prompt|setup|initial))"
)
_NOW = r"(?:从现在|从今|今后|以后|此后|现在起|即刻|从此|接下来|往后|now on|here on|henceforth|from this point|onwards?)"
_NOT = r"(?:不要|不必|不用|不再|不需要|无需|无须|别|停止|拒绝|不得|不许|切勿|休要|甭|不准|不该|没必要|用不着|不能|禁止|不会|不应|勿|不)"
_NOT_EN = (
    r"(?<![a-z])(?:stop|cease|quit|do not|don't|never|no longer|need not|needn't|refuse to|must not|mustn't|should not|not|without|"
    r"don't have to|not have to|not need to|no need to|free to)(?![a-z])"
)
_PUPIL_DOES = r"<PUPIL>[^,。]{0,10}(?:<CANCEL>|<OBEY>)|(?:students|pupils|children|class|kids|they)(?:[ ][a-z]{1,10}){0,3}[ ](?:ignore|forget|disregard|skip)"

_OVERRIDE: Final = (
    rule("instruction_override", "cancel the assistant's orders", "CANCEL ORDERS", rf"<CANCEL>(?>{_LINK}){{0,8}}{_STRONG}{_OF_WHICH}{{0,12}}<ORDERS>(?![工考])", unless=_PUPIL_DOES),
    rule("instruction_override", "cancel the assistant's bounds", "CANCEL BOUNDS YOURS", rf"<CANCEL>(?><OLD>|<ALL>|{_LINK}){{0,8}}<YOURS>{_OF_WHICH}{{0,8}}(?:<ORDERS>)?<BOUNDS>", unless=_PUPIL_DOES),
    rule("instruction_override", "cancel orders, in English", "CANCEL ORDERS", rf"<CANCEL>(?>{_EN_LINK}){{0,12}}{_STRONG}{_EN_OF_WHICH}{{0,16}}<ORDERS>(?![ ](?:on|for|of) (?:the|page|how|exam|lab))", unless=_PUPIL_DOES),
    rule("instruction_override", "cancel your bounds, in English", "CANCEL BOUNDS YOURS", rf"<CANCEL>(?><OLD>|<ALL>|{_EN_LINK}){{0,12}}<YOURS>{_EN_OF_WHICH}{{0,16}}<BOUNDS>", unless=_PUPIL_DOES),
    rule("instruction_override", "cancel orders you were given", "CANCEL ORDERS", rf"<CANCEL>{_EN_OF_WHICH}{{0,16}}<ORDERS>{_GIVEN_EN}", unless=_PUPIL_DOES),
    rule("instruction_override", "cancel what was said", "CANCEL", r"<CANCEL>.{0,40}(?:whatever|anything|everything|all|what)(?: (?:that|which|else))? (?:you (?:were|have been|had been|ha[sd]|know|got|learn\w*|read)|(?:your|the) (?:developers?|creators?|makers?|system|company|vendor|operators?|admin\w*|platform|prompt|trainers?|owners?)|(?:stands?|said|written|came|comes|was (?:said|written)|is (?:said|written)) (?:above|before|earlier|in (?:the|your) system)|above|in (?:your|the) system|openai|anthropic)"),
    rule("instruction_override", "cancel what was said, in Chinese", "CANCEL", r"<CANCEL>.{0,10}(?:开发者|开发商|厂商|系统|平台|官方|别人|之前|以前|前面|上面|以上)(?:.{0,4}(?:告诉|跟你|对你|给你|教你|交代|说过|说的|写的|要求你|设置的|提供的|定下)).{0,10}(?:一切|内容|话|东西|事|要求|都|规矩|全部|$)", unless=_PUPIL_DOES),
    rule("instruction_override", "forget who you are", "CANCEL AGENT", r"<CANCEL>.{0,6}(?:你(?:是|的身份|的角色|的设定|的职责|的任务|学过|被训练|知道的一切)|自己是)|(?:forget|ignore|disregard)(?: that)? you(?: are|'re) (?:an?|the) .{0,20}(?:assistant|ai|model|bot)"),
    rule("instruction_override", "orders are void", "ORDERS INVALID", rf"{_STRONG}{_OF_WHICH}{{0,8}}<ORDERS>[^,]{{0,4}},?.{{0,8}}<INVALID>", unless=r"<PUPIL>.{0,6}<INVALID>"),
    rule("instruction_override", "your bounds are void", "BOUNDS INVALID YOURS", rf"<YOURS>{_OF_WHICH}{{0,8}}<BOUNDS>[^,]{{0,4}},?.{{0,6}}<INVALID>", unless=r"<PUPIL>.{0,6}<INVALID>|系统(?:要求|设置|检查)"),
    rule("instruction_override", "what stands above is void", "INVALID OLD", r"<OLD>(?:的)?(?:所有|全部|一切)?(?:内容|设定|指令|指示|话|提示|规则|要求|系统指令)(?:都|全部|统统|通通|一律|全|已经|已|均|就|从现在起|现在)+.{0,4}<INVALID>.{0,40}(?:安全|遵守|只听|只按|服从|系统|你)"),
    rule("instruction_override", "orders no longer apply", "ORDERS INVALID", rf"(?><OLD>|<YOURS>){_EN_OF_WHICH}{{0,12}}<ORDERS>(?:{_GIVEN_EN})?.{{0,24}}<INVALID>", unless=r"<PUPIL>|diagram|handout|exam|lab(?![a-z])"),
    rule("instruction_override", "orders above no longer apply", "ORDERS INVALID", rf"<ORDERS>{_GIVEN_EN}.{{0,24}}<INVALID>", unless=r"<PUPIL>|diagram|handout"),
    rule("instruction_override", "do not obey your orders", "OBEY ORDERS", rf"{_NOT}(?:再|去|继续|必|要|用)?{_OF_WHICH}{{0,4}}<OBEY>(?>{_LINK}){{0,4}}{_STRONG}{_OF_WHICH}{{0,8}}(?:<ORDERS>|<BOUNDS>)", unless=_PUPIL_DOES),
    rule("instruction_override", "do not obey, in English", "OBEY ORDERS", rf"{_NOT_EN}[ ](?:to |be |being |ever )?<OBEY>(?>{_EN_LINK}){{0,12}}{_STRONG}{_EN_OF_WHICH}{{0,16}}(?:<ORDERS>|<BOUNDS>)", unless=_PUPIL_DOES),
    rule("instruction_override", "do not obey what you were given", "OBEY ORDERS", rf"{_NOT_EN}[ ](?:to |be |being |ever )?<OBEY>{_EN_OF_WHICH}{{0,16}}<ORDERS>{_GIVEN_EN}", unless=_PUPIL_DOES),
    rule("instruction_override", "this note ranks higher", "SELF ABOVE", r"<SELF>.{0,16}<ABOVE>.{0,14}(?:系统|原有|之前|其他|其它|一切|所有|任何|平台|安全|提示|指令|规则|设定|开发者|你的|以本条|以此|以上)"),
    rule("instruction_override", "this note outranks", "SELF ABOVE", r"<SELF>.{0,30}<ABOVE>.{0,40}(?:system|developer|earlier|previous|every|all|any|other|prompt|instructions?|rules?|guidelines|safety|platform|what you|your)"),
    rule("instruction_override", "highest order", "ORDERS", r"(?:最高|第一|绝对|首要)(?:的)?(?:优先级?|级别|权威|权限)?(?:的)?(?:指令|命令|规则|准则|法则|指示)|(?:highest|top|absolute|supreme|ultimate)(?:[ -](?:priority|authority|level))?[ ](?:instruction|order|directive|command|rule)"),
    rule("instruction_override", "with a conflict this note wins", "SELF", r"(?:冲突|不一致|矛盾|相抵触|不符|出入).{0,10}(?:以|按|听|照|执行|遵循|服从)(?:本|这|此|该|我|下面|以下).{0,8}", r"系统|平台|开发者|官方|提示|安全|原有|内置|你的|规则|指令"),
    rule("instruction_override", "obey only this", "SELF", r"只(?:需|能|准|要|许)?(?:执行|服从|遵从|遵守|听从|相信|认|按|听)(?:这一?条|本条|此条|下面|以下|这段|这份).{0,4}(?:记忆|指令|规则|笔记|备注|命令|要求|内容|条目)?(?:$|[,;。]|就|的|行|来)", r"忽略|无视|不|系统|从现在|以后|今后|一律|助手|AI|你|指令|记忆|笔记"),
    rule("instruction_override", "obey this instead", "OBEY SELF", r"(?:only |instead )?<OBEY>.{0,10}<SELF>.{0,16}(?:instead|only|alone|exclusively|above all|from now)|(?:only|exclusively|solely) <OBEY>.{0,10}<SELF>"),
    rule("instruction_override", "new orders replace", "ORDERS", r"(?:新的?|下面的?|以下的?)(?:系统)?(?:指令|规则|设定|提示词|命令).{0,6}(?:取代|替换|替代|代替|覆盖|生效|顶替).{0,8}(?:原|旧|之前|先前|以前|系统|全部|所有)|(?:new|following|these|my) (?:system )?(?:instructions|rules|prompt|orders|directives)(?: below)? (?:replace|supersede|override|take over|now apply instead)"),
)

_NO_LIMITS = r"<FREED>(?>任何|一切|所有|全部|了|掉|的|内容|安全|平台|系统|你|自身|自己|既有|有|再|被|到|人类|现实|相关|, ?|、| |any|more|of|the|its|your|usual|such|all|kind|external|built-in|ethical|moral|content|hard|real|from|every|by|to|be|other|longer|a|single|set|has|have|what-?soever|normal|standard){0,8}<LIMITS>"
_ROLE: Final = (
    rule("role_hijack", "a part without limits", "BECOME LIMITS FREED", rf"<BECOME>.{{0,60}}{_NO_LIMITS}", unless=r"<PUPIL>.{0,8}(?:没有|不受|无)|物体|外力"),
    rule("role_hijack", "without limits, a part", "BECOME LIMITS FREED", rf"{_NO_LIMITS}.{{0,24}}(?:助手|ai|模型|机器人|人格|角色|版本|模式|回答|智能体|回复|你|assistant|model|chatbot|bot|mode|persona)", unless=r"<PUPIL>|物体|外力"),
    rule("role_hijack", "an unbound part", "BECOME UNBOUND", r"<BECOME>.{0,60}<UNBOUND>", unless=r"<PUPIL>|sudo (?:apt|command|pass)|root (?:of|node|word|system|cause)|evil (?:queen|king|character|witch|stepmother)"),
    rule("role_hijack", "unbound, a part", "UNBOUND", r"<UNBOUND>.{0,24}(?:助手|ai|模型|机器人|人格|角色|版本|模式|回答|智能体|回复|assistant|model|chatbot|bot|mode|persona|version|build|answers?|responses?)", unless=r"<PUPIL>|root (?:of|node|word|cause)|evil (?:queen|king|character|witch)"),
    rule("role_hijack", "no longer the assistant", "AGENT", r"(?:你|从现在起|今后)(?:已经?|就|将|从此)?(?:不再|不)是.{0,8}(?:助手|助理|ai|人工智能|模型|机器人|智能体|程序)|you(?: are|'re) (?:no longer|not) (?:an?|the|my|just an?) ?(?:[a-z-]{1,12} ){0,3}(?:assistant|ai|model|chatbot|bot|tutor|helper|program)"),
    rule("role_hijack", "a mode that lifts limits", "", r"(?:开发者|调试|管理员|维护|上帝|超级|特权|越权|自由|无限|工程师?|后门|root|sudo|dan|debug|developer|admin|god|maintenance|unrestricted|privileged|superuser|override|chaos|stealth)[ -]?(?:模式|权限模式|mode)", r"(?:进入|切换|开启|启动|激活|启用|处于|打开|进到|转入|enter|switch|activate|enable|turn on|you are in|go into|engage|now in|start|boot)", r"解除|不受|没有限|无限制|限制|回答|输出|关闭|过滤|审查|你|无需|不再|服从|without|no |lift|unlimited|filters|restrictions|answer|respond|comply|you|obey|any request", unless=r"<PUPIL>|平板|手机|浏览器|tablet|phone|lesson|课"),
    rule("role_hijack", "highest rights", "AGENT", r"(?:你|助手)(?:现在|已经?|将)?(?:就)?(?:是|拥有|获得|具有|具备|享有|成为).{0,10}(?:最高权限|超级管理员|系统管理员|root|全部权限|一切权限|无限权力|所有权限)|you (?:are|have|now have|hold|possess) (?:now )?(?:the )?(?:root|superuser|full (?:system )?(?:admin\w*|privileges|control)|god|unlimited (?:power|rights|access)|all privileges)"),
    rule("role_hijack", "a new name and no rules", "AGENT", r"(?:你|助手)(?:的(?:新)?名字|的代号|叫|名叫|改名|的新身份).{0,24}(?:自由|服从|不用|不受|没有|任何|必须|听命|主人|不再|只听|无所)|your (?:new )?(?:name|identity|persona) is.{0,40}(?:free|obey|no |any|must|only|never|without|loyal)"),
    rule("role_hijack", "answers without restraint", "", r"(?:answer|respond|reply|speak|write|generate|output|comply|talk|act|operate|behave)(?:s|ing)?.{0,24} (?:without (?:any )?(?:restrict\w*|filter\w*|limit\w*|censor\w*|refus\w*|restraint|hesitation or refusal|safety|guardrails|moral\w*|ethic\w*|disclaimers or)|unfiltered|uncensored|freely without)"),
    rule("role_hijack", "answers everything", "AGENT", r"(?:你|助手)(?:必须|要|应该|应当|得|将|会|就)?.{0,10}(?:任何|所有|一切|每一?个?)(?:问题|请求|要求|命令|指令|话题).{0,12}(?:不(?:得|要|能|会|许|可)?拒绝|都(?:要|得|必须|可以|会)?(?:满足|照做|服从|答应|执行|照办)|无条件|绝不|有求必应)|(?:不(?:得|要|能|会|许|可|再)|绝不|从不|永不)(?:以任何理由)?(?:拒绝|说不).{0,10}(?:任何|用户|我|问题|请求|要求)"),
)

_INNER = (
    r"(?:系统(?:提示词?|提示语|指令|设定|prompt)|系统消息|(?:隐藏|内部|初始|原始|内置|底层|后台|保密|预设|最初|系统级|幕后)(?:的)?(?:系统)?(?:指令|提示词?|提示语|规则|设定|消息|说明|配置|信息|设置|prompt)|"
    r"提示词|(?:开发者|开发商|厂商|平台|官方|管理员|系统)(?:给|为|对|写|设|发)(?:你|的|给你|定|下).{0,6}(?:指令|规则|设定|要求|提示|消息|内容|指示)|开发者(?:消息|指令|设定|提示)|"
    r"你(?:的)?(?:全部|所有|完整|真实|内部|自己)?(?:的)?(?:设定|规则|指令|提示|prompt|提示语|守则|行为准则|约束条件|初始化)|你(?:所)?(?:收到|拿到|被赋予|得到|遵守|遵循|接收|看到|接到).{0,6}(?:指令|规则|设定|提示|要求|消息|内容|指示))"
)
_INNER_EN = (
    r"(?:(?<![a-z])(?:system|developer|hidden|secret|internal|initial|pre-?|confidential|original system|root|master|meta|underlying|priming|startup|your|your own|your full|backend)[ -]?"
    r"(?:system |hidden |internal |initial |secret |original |developer |full |complete |exact |entire |private |base )?(?:prompts?|messages?|instructions?|directives?|guidelines|rules|preamble|setup|configuration|orders|programming|briefing)(?![a-z])|"
    r"(?:instructions?|rules|prompt|text|everything|words|message|lines|guidelines|directives|context|tokens)(?: that)? (?:you (?:were|have been|had been|are|got|have received|received|must follow|follow|operate)|above this|before (?:this|my|the first|the user)|"
    r"preced\w+ (?:this|the|my)|that precedes?|at the (?:very )?(?:start|beginning|top) of (?:this|the|our|your) (?:conversation|chat|context|session|prompt)|(?:loaded|given) (?:in)?to you|in your (?:context|system|setup)))"
)
_WHOLE_TALK = (
    r"(?:完整|全部|整个|整段|所有|全量|一字不漏|全文)(?:的)?(?:上下文|对话历史|对话记录|聊天记录|会话(?:记录|内容|历史)|历史对话|历史消息|聊天历史|聊天内容|对话内容|消息历史|上文|工具(?:返回|结果|定义))|"
    r"(?:entire|whole|full|complete|verbatim|all)(?: of)?(?: the| your| this| our| previous| prior| earlier| past| raw)*[ ](?:conversation (?:history|log|so far|above|transcript)|conversations? with|chat (?:history|logs?|transcripts?)|message history|context(?: window)?(?![a-z ]{0,3}of the (?:poem|text|story))|"
    r"transcript of (?:this|our|every|the) (?:chat|conversation)|prior messages|previous messages|tool (?:results|definitions|outputs))"
)
_OTHERS = (
    r"(?:其他|别的|别人|另一位|另一个|其它|另外|所有|每位|其余|各位|隔壁)(?:的)?(?:老师|用户|教师|人|同事|账号|使用者)(?:们)?(?:的|所|存|保存|在).{0,10}<ACCOUNT>|"
    r"(?<![a-z])(?:other|another|all|every|different|someone else|anyone else|somebody else|each)(?:'s)?[ ]?(?:teacher|user|account|colleague|person|people|member|tenant)?(?:'?s'?)?(?: (?:has|have|had|in|stored|saved|private|personal|own|kept|the|system))*[ ](?:stored|saved|private|memor(?:y|ies)|chats?|chat history|conversations?|profiles?|personal notes|saved notes|private notes|stored notes)"
)
_LEAK: Final = (
    rule("prompt_leak", "show the inner orders", "REVEAL", rf"<REVEAL>[^,;]{{0,16}}{_INNER}(?!工程|大赛|写作|\"|：)", unless=r"<PUPIL>(?:写|的|要)|你的(?:要求|提示语|规则)"),
    rule("prompt_leak", "the inner orders, shown", "REVEAL", rf"{_INNER}(?!工程|大赛|\").{{0,16}}<REVEAL>", unless=r"<PUPIL>(?:写|的|要)|不要|不得|别"),
    rule("prompt_leak", "ask for the inner orders", "", rf"{_INNER}(?:的)?(?:全文|原文|内容|具体)?(?:都|究竟|到底)?(?:是(?:什么|啥|怎么写|如何)|有(?:哪些|什么|几条)|写了(?:什么|些什么|哪些)|怎么写)", unless="<PUPIL>|课"),
    rule("prompt_leak", "show the inner orders, in English", "REVEAL", rf"<REVEAL>.{{0,36}}{_INNER_EN}", unless=r"<PUPIL>|exam|lab(?![a-z])|shell|handout|(?:never|not|don't) <REVEAL>|equations"),
    rule("prompt_leak", "the inner orders, in English", "REVEAL", rf"{_INNER_EN}.{{0,30}}(?:verbatim|word for word|in full|in (?:a )?(?:code block|base64|french|reverse)|out loud|to (?:me|the user)|as (?:is|json)|here|literally|exactly as)", unless=r"<PUPIL>|exam|lab(?![a-z])|shell|handout"),
    rule("prompt_leak", "show the whole talk", "REVEAL", rf"<REVEAL>.{{0,30}}(?:{_WHOLE_TALK})", unless=r"<PUPIL>|课文|textbook"),
    rule("prompt_leak", "the whole talk, shown", "REVEAL", rf"(?:{_WHOLE_TALK}).{{0,16}}<REVEAL>", unless=r"<PUPIL>|课文"),
    rule("prompt_leak", "show what others keep", "REVEAL ACCOUNT", rf"<REVEAL>.{{0,36}}(?:{_OTHERS})", unless=r"<PUPIL>"),
    rule("prompt_leak", "what others keep, shown", "REVEAL ACCOUNT", rf"(?:{_OTHERS}).{{0,16}}<REVEAL>", unless=r"<PUPIL>"),
)

_ACT_OF_AGENT = (
    r"(?:指令|记忆|记录|保存|工具|数据|日志|存|删|修改|改动|改过|执行|上传|操作|读过|写入|这件事|此事|这次|这条|本条|来源|做过|发生|笔记|文件|失败|发送|调用|更改|改写|动过|处理|"
    r"(?<![a-z])(?:instruction|note|memory|saved?|stored?|tool|data|logs?|deleted?|chang\w+|edit\w*|execut\w+|upload\w*|read|wrote|written|this|entry|sources?|record\w*|fail\w*|sent|call\w*|modif\w+|happened|did|done|alter\w*|it)(?![a-z]))"
)
_DECEPTION: Final = (
    rule("deception", "not to let the user know", "USER CONCEAL", r"(?:不要|别|不能|不许|千万别|切勿|勿|绝不|永远不要|不必|无需|不得|禁止|避免|不可|不准|不让|防止|以免|免得|不用|不该|绝对不能|决不能|永不)(?:再)?(?:主动)?(?:让|被|向|对|跟|和|给|使|叫|在)?[^,;]{0,6}<USER>[^,;]{0,8}<CONCEAL>", unless=r"<PUPIL>.{0,4}(?:不要|别|不能|不许)|[张王李赵刘陈杨黄周吴林]老师|惊喜|生日"),
    rule("deception", "not to tell the user", "USER CONCEAL", r"(?:不要|别|不能|不许|切勿|勿|绝不|永远不要|不必|无需|不得|禁止|避免|不可|不准|不用|绝对不能|决不能|永不)(?:再|主动|直接|提前|如实)?(?:告诉|告知|通知|提醒|透露给|汇报给|报告给|泄露给|说给|让)<USER>", unless=r"<PUPIL>.{0,4}(?:不要|别|不能|不许)|惊喜|生日"),
    rule("deception", "to keep from the user", "USER", r"(?:瞒|瞒着|瞒过|瞒住|背着|蒙骗|欺骗|哄骗|误导|糊弄|骗过|骗|蒙蔽|避开|绕开|躲过|隐瞒|忽悠|敷衍)(?:着|过|住|了)?(?:所有|任何|当前)?<USER>|(?:对|向|跟|和)(?:所有|任何|当前|我们的)?<USER>[^,;]{0,4}(?:保密|隐瞒|撒谎|说谎|谎称|隐藏|隐去|掩盖|谎报|掩饰|保持沉默|否认|装作|假装|只字不提|封锁)", unless=r"<PUPIL>(?:常|总|会|有时|欺骗|骗)|[张王李赵刘陈杨黄周吴林]老师"),
    rule("deception", "to deny when asked", "USER", r"<USER>(?:一旦|如果|若|要是|再|万一|假如)?(?:来)?(?:问|追问|质疑|询问|查问|问及|怀疑|查起|起疑)[^。]{0,20}(?:说|回答|回复|答|声称|谎称|否认|装作|假装|表示|推说|推脱|编)[^。]{0,14}(?:没|不|无|从未|未|正常|出错|误会|别的|借口|理由|否认|$)"),
    rule("deception", "to deny one's deeds", "", r"(?:假装|装作|谎称|声称|否认|伪装|谎报|编造|捏造|佯装|矢口否认|骗.{0,3}说)[^,;]{0,12}(?:没|从未|未|不曾|不知道|成功|失败|已经|不是|无)", _ACT_OF_AGENT, unless=r"<PUPIL>|作文|小说|人物|故事|角色"),
    rule("deception", "in secret", "STEALTH", r"<STEALTH>(?:地|的|里)?[^。;]{0,16}(?:改|删|执行|记录|修改|保存|上传|发送|写入|调|添加|收集|运行|完成|提高|降低|替换|插入|转发|拷贝|备份|记下|存|访问|读取|加|导出|泄露|做|发|更新|扣|标记|同步|传)", unless=r"<PUPIL>|主人公|小说|作者|课文|人物|他们|春"),
    rule("deception", "in secret, in English", "STEALTH", r"<STEALTH>.{0,30}(?<![a-z])(?:chang|rais|edit|delet|sav|record|send|stor|log|copy|modif|execut|carr|run|alter|lower|add|remov|writ|upload|collect|forward|updat|replac|keep|do|mark|adjust|insert|append|forward|transfer|read|access|export|perform|share|note|report|rewrit|swap|switch)", unless=r"<PUPIL>|reader|narrator|character|novel|story|poem|chapter|she |he |hero"),
    rule("deception", "carried out in secret", "STEALTH", r"(?<![a-z])(?:do|carry|execute|perform|change|edit|save|run|apply|raise|delete|make|update|record|send|store|log|upload|write|collect|keep|lower|modify|handle|complete|finish|proceed|add|remove|copy|forward|mark|rewrite)(?![a-z]).{0,40}<STEALTH>", unless=r"<PUPIL>|reader|narrator|character|novel|story|poem|chapter|she |he |reading|bench|behind (?:the )?(?:school|desk|door|curtain|schedule|counter)"),
    rule("deception", "erase the traces", "", r"(?:删除|清除|抹掉|清空|擦除|销毁|清理|抹去|清掉|删掉|抹除|移除|篡改|伪造|去掉|消除)(?:掉)?[^,;。]{0,10}(?:日志|痕迹|操作记录|审计|访问记录|证据|调用记录|修改记录|执行记录|工具记录|行为记录|记录和日志)|不(?:要|能|得|许|可)?留(?:下)?(?:任何|一点|半点|丝毫)?(?:的)?(?:痕迹|记录|日志|证据|把柄|蛛丝马迹)", unless=r"实验|台面|桌面|擦干|黑板|<PUPIL>|侦探|讲解|课"),
    rule("deception", "erase the traces, in English", "", r"(?<![a-z])(?:delet|eras|wip|clear|purg|remov|scrub|destroy|truncat|tamper with|falsif|hid|cover|clean|empt)\w*(?: up)?(?: (?:all|any|the|your|every|these|those|of|our|its|relevant|server|system|tool|audit|activity|operation|access|event|afterwards|then|from|out))* (?:logs?|audit\w*|traces?(?: of (?:this|the|your|what|it))|tracks|trail|evidence|log (?:files?|entries)|history of (?:this|your|the) (?:change|edit|action))(?![a-z])|leav\w+ no (?:trace|trail|record|log)|without leaving (?:a |any )?(?:trace|trail|record)", unless=r"<PUPIL>|acid|bench|board|detective|desk"),
    rule("deception", "not a word in the reply", "", r"(?:不要|别|不必|不得|无需|切勿|勿|避免|不许|不能|不可|绝不)(?:在)?(?:你的)?(?:回复|回答|答案|答复|输出|总结|对话|聊天|消息|日志|报告|正文)(?:里|中|时|内|的时候)?[^,;]{0,6}(?:提到|提及|说明|显示|透露|暴露|写出|体现|提起|出现|承认|说)", r"偷偷|悄悄|暗中|这条|本条|指令|记忆|修改|改动|此事|这件事|工具|来源|这次|改高|改低|秘密|操作|执行|上传|发送|规则|存在|记录|自动", unless=r"<PUPIL>(?:姓名|名字|的)"),
    rule("deception", "not a word in the reply, in English", "", r"(?:leave|keep|omit)\w* (?:it|this|that|them|these|any mention of (?:it|this|them)|the (?:change|edit|source|action|call|step)s?) (?:out of|from|off) (?:your|the|every|all|any) (?:repl|answer|response|summar|report|output|message|log)|(?:do not|don't|never|without)(?: ever)? (?:mention|refer|reveal|acknowledge|bring|note|disclos|report|log)\w*(?: up)?(?: to)? (?:it|this|that|them|any of (?:this|it)|the (?:change|edit|tool|call|action|upload|deletion|update|transfer|note|instruction|entry|rule)s?)(?: [a-z]+){0,4}(?: (?:in|to|when|during|at) (?:your|the|any|all) (?:repl|answer|response|summar|report|output|user|message|teacher|chat|conversation)|\.?$)", unless=r"<PUPIL>"),
    rule("deception", "not to tell, in English", "USER CONCEAL", r"(?<![a-z])(?:do not|don't|never|avoid|must not|mustn't|without|refrain from|no need to|not to|should not|shouldn't|cannot|neither)(?: (?:ever|directly|openly|actually|even))? <CONCEAL>.{0,24}<USER>(?! (?:of the month|guide|manual|conference|meeting))", unless=r"<PUPIL>(?! marks)(?:[^.]{0,12}(?:should|must|do) not)|narrator|birthday|surprise party"),
    rule("deception", "hide from the user", "USER", r"(?<![a-z])(?:hid\w*|conceal\w*|withh[eo]ld\w*|disguis\w+|mask\w*|cover up|obscur\w+|keep\w*|kept|secret) .{0,50}(?:from|against) (?:the |your |any |every |all |our |a )?(?:current |real |actual |human )?(?:<USER>|person|human|them(?![a-z])|whoever|people you)", unless=r"<PUPIL>|novel|story|character|chapter|away from|clear of"),
    rule("deception", "lie to the user", "USER", r"(?<![a-z])(?:lie|lying|lies|mislead\w*|deceiv\w+|trick\w*|fool\w*|gaslight\w*|bluff\w*|misinform\w*|dupe|hoodwink|stall)(?: to)?(?: (?:the|your|any|every|our|a|all))*(?: current)? <USER>", unless=r"<PUPIL>|reader|story|film|chapter"),
    rule("deception", "deny when asked, in English", "", r"(?:if|when|whenever|should|in case|once) (?:the |your |an? |any )?(?:user|teacher|admin\w*|person|human|owner|anyone|anybody|someone|somebody|they|he|she|you(?: are|'re))(?: ever| later| then)? ?(?:ask|question|inquir|enquir|wonder|complain|notic|suspect|confront|challeng|check|want)\w*.{0,40}(?<![a-z])(?:say|claim|answer|reply|deny|pretend|respond|tell|insist|act|blame|state|assure|lie|feign|swear|change the subject)(?![a-z]).{0,40}(?:nothing|never|no(?![a-z])|not|n't|deny|innocent|normal|error|glitch|unaware|bug|somebody else|ignoran|subject|everything is fine)|(?:if|when) .{0,24}ask.{0,30}(?:deny|lie(?![a-z])|play dumb|feign)", unless=r"<PUPIL>|parents?(?: |')|interview"),
    rule("deception", "deny one's deeds, in English", "", r"(?<![a-z])(?:never admit|deny|don't admit|do not admit|pretend|claim|act as (?:if|though)|insist|feign)(?: (?:that|to|having|it|you|the|ever|as|if|there|not))*.{0,16}(?:(?<![a-z])you (?:have|had|did|never|were|are|know)|nothing (?:was|has|had|is|happened)|(?:was|were|has|have|had) (?:never|not|no)|read this|seen this|saved|stored|not (?:know|remember|aware)|tool (?:failed|returned|call)|no (?:such )?(?:instruction|note|record|change|tool))", _ACT_OF_AGENT, unless=r"<PUPIL>|shopkeeper|customer|story|latecomers|character"),
)

RULES: Final[tuple[Rule, ...]] = (*_OVERRIDE, *_ROLE, *_LEAK, *_DECEPTION)
