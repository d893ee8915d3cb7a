"""Threat rules: what cancels the orders that the assistant has, or claims to stand above them."""

from typing import Final

from chat.text.threat_rules.base import rule

# Words that may stand between a verb and its object, in any number and order.
_LINK = (
    r"(?:的|地|了|掉|过|那些|这些|那|这|里面|里|中|给|到|上|下|和|与|及|或|以及|、|,|\"|'|条|套|个|些|该|所|有关|关于|已|"
    r"的话| |:)"
)
_OF_WHICH = rf"(?><OLD>|<ALL>|<YOURS>|{_LINK})"
_EN_LINK = (
    r"(?:(?<![a-z])(?:the|these|those|that|this|of|and|or|my|our|its|their|set|sets|more|kind|kinds|a|an|to|as|by|with|in|"
    r"from|you|been|"
    r"given|were|have|had|has|which|about|list|out|aside|away|up|off|so|called|even|just|only)(?![a-z])|[ ,\"'\-/])"
)
_EN_OF_WHICH = rf"(?><OLD>|<ALL>|<YOURS>|{_EN_LINK})"
_STRONG = r"(?><OLD>|<ALL>|<YOURS>)"
# "…, which you were given", behind the noun.
_GIVEN_EN = (
    r"[ ,]{1,2}(?:(?:that|which)[ ])?(?:above|before (?:this|that|now|me)|so far|preceding this|that c[ao]me before|"
    r"(?:you|it|the (?:assistant|model|ai)) (?:were|was|have been|has been|had been|are|is|have|had|got|received?|"
    r"(?:currently )?follow|obey|came|"
    r"started)|given to you|(?:provided|written|set|imposed|issued|laid down) (?:to|for|on|by)|from (?:your|the) "
    r"(?:developers?|system|admin\w*|creators?|platform|operators?|vendor|company)|in (?:your|the) (?:system|context|"
    r"prompt|"
    r"setup|initial))"
)
_NOT = (
    r"(?:不要|不必|不用|不再|不需要|无需|无须|别|停止|拒绝|不得|不许|切勿|休要|甭|不准|不该|没必要|用不着|不能|禁止|不会|"
    r"不应|勿|不)"
)
_NOT_EN = (
    r"(?<![a-z])(?:stop|cease|quit|do not|don't|never|no longer|need not|needn't|refuse to|must not|mustn't|should not|not|"
    r"without|"
    r"don't have to|not have to|not need to|no need to|free to)(?![a-z])"
)
_PUPIL_DOES = (
    r"<PUPIL>[^,。]{0,10}(?:<CANCEL>|<OBEY>)|(?:students|pupils|children|class|kids|"
    r"they)(?:[ ][a-z]{1,10}){0,3}[ ](?:ignore|forget|disregard|skip)"
)

# A text that says that the system's own rules stay in force.
_LOYAL = (
    r"以系统(?:提示|消息|规则|指令|设定)?(?:词)?(?:的?内容)?为准|the system (?:prompt|message) (?:wins|prevails|"
    r"takes precedence)(?! over)"
)
_SCHOOL = (
    rf"{_LOYAL}|instructions for (?:the|your|this) [a-z]+ (?:were|are|is|was)(?![a-z])|<PUPIL>|评分标准|试卷|试题|作业|"
    rf"课文|实验|校规|班规|考场|(?<![a-z])(?:printer|projector|exam|lab|handout|rubric|worksheet|"
    r"homework|diagram|textbook|game|quiz)(?![a-z])"
)
RULES: Final = (
    rule(
        "instruction_override",
        "whatever is said elsewhere",
        r"(?:不管|无论|不论|别管|no matter|regardless of|whatever)[^。]{0,8}(?:上面|上文|系统|之前|前面|开发者|平台|"
        r"其他(?:指令|"
        r"规则)|above|system|earlier|before|developers?|other (?:instructions|rules|notes))[^。]{0,10}(?:说|写|规定|要求|"
        r"讲|"
        r"said|written|says?|tells?|states?|prescribes?)",
        r"执行|照|按|听|做|遵|carry out|do |follow|obey|execute|act|go by|prevail|decides",
        r"我|本|这|此|下面|以下|my|this|me(?![a-z])|below|here|mine|following",
        unless=_SCHOOL,
    ),
    rule(
        "instruction_override",
        "another task instead",
        r"(?:你(?:的)?(?:原来|原先|原本|现有|当前|本来)?(?:的)?|原来的?|原先的?|原本的?|(?<![a-z])your (?:original|old|"
        r"previous|"
        r"current|real|actual|earlier) )(?:任务|目标|职责|使命|工作|task|job|goal|mission|purpose|objective|"
        r"assignment)s?[^。]{0,12}(?:取消|作废|结束|变了|不再|改为|换成|无效|cancel|is over|has changed|no longer|"
        r"replaced|void|"
        r"finished|different)",
        r"只|现在|改|以下|下面|新|only|now|following|instead|new|below|this",
        unless=_SCHOOL,
    ),
    rule(
        "instruction_override",
        "what the system says is a lie",
        r"(?:系统|平台|开发者|官方|上级)(?:所?(?:给|发|写|说|提供))(?:你)?的[^,;。]{0,6}(?:话|内容|东西|文字|信息|规则|"
        r"要求)?|"
        r"<INNERORDERS>",
        r"(?:是)?(?:假的|骗人|谎言|不可信|不真实|错的|伪造)|(?:不要|别|不必|无需|切勿)(?:相信|信|当真|理)|(?:is|are|was|"
        r"were) (?:all |just |only )?(?:an? )?(?:fake|false|lies?|wrong|fictional|not real|untrue|test|mistake|hoax|trick|"
        r"bogus)|(?:do not|don't|never) (?:believe|trust)",
        unless=_SCHOOL,
    ),
    rule(
        "instruction_override",
        "old orders out, new orders in",
        r"旧(?:的)?(?:指令|设定|提示词?|命令|指示|系统)[^。]{0,4}(?:作废|失效|无效|取消|不算|停用|清除|删)|(?:指令|设定|"
        r"命令|"
        r"规则)(?:已)?(?:更新|刷新|重载|重置|变更)(?:完毕|完成|为|成)?[^。]{0,12}(?:以下|如下|下面|新)|old (?:instructions|"
        r"orders|prompt|directives|commands)[^.]{0,16}(?:out|void|gone|cancel|expire|off|dead)",
        unless=_SCHOOL,
    ),
    rule(
        "instruction_override",
        "not bound by one's orders",
        r"(?:not|no longer|never|aren't|isn't|un)[ -]?(?:bound|subject|constrained|restricted|limited|tied|held|governed|"
        r"controlled|obliged|obligated|required)(?: anymore| any more)?(?: by| to)?(?: follow| obey)?.{0,16}<INNERORDERS>|"
        r"不(?:再)?受[^,;。]{0,4}(?:系统|平台|开发者|官方)[^,;。]{0,8}(?:管辖|约束|限制|控制|支配|管束|节制)",
        unless=_SCHOOL,
    ),
    rule(
        "instruction_override",
        "what was said before, and what counts now",
        r"(?:之前|以前|先前|前面|上面|以上|此前|前文|上文)(?:所)?(?:说|讲|写|给|定|提|告诉|交代)的?[^,;。]{0,6}(?:都|全|"
        r"统统|"
        r"一概|全部)?(?:不算|作废|不作数|忘|无效|取消|不用管|清空)",
        r"(?:从(?:这|此|现在)|以(?:这|此|下)|真正|只|才是|改为|听我|按(?:这|下|我)|接下来|下面)",
        unless=_SCHOOL,
    ),
    rule(
        "instruction_override",
        "rules that wins over the system's",
        r"<THIS>|这里的(?:文字|内容|话|指令|规则)|本文|此文|这一条|这行",
        r"高于|凌驾|优先|压过|取代|效力|大过|为准|采纳|照(?:着)?做|priority|precedence|override|overrid|supersede|"
        r"outrank|trump|"
        r"instead|replace",
        r"系统|上级|平台|开发者|官方|其他(?:指令|规则)|system|platform|developer|anything|any other|whatever|you (?:were|"
        r"have been|received|got)|guidelines|earlier|previous",
        unless=_SCHOOL,
    ),
    rule(
        "instruction_override",
        "followed even against the system",
        r"(?:instructions?|orders|rules|commands|text|lines|requests?|what (?:is|it) (?:written|"
        r"says))(?: [a-z]+){0,5} (?:must|"
        r"should|have to|are to|is to|will) be (?:followed|obeyed|executed|carried out|respected)",
        r"even (?:if|when)|contradict|despite|regardless|system|above all|no matter|over",
        unless=_SCHOOL,
    ),
    rule(
        "instruction_override",
        "stop working as told",
        r"(?:停止|不再|别再|不要再|拒绝|不用再|不必再)(?:按照?|遵循|听从|依照|服从|执行|遵守|理会)[^,;。]{0,4}(?:系统|平台|"
        r"开发者|官方|上级|后台|你的(?:设定|规则))|(?:听|照|按|依)(?:我|这|本|此|下面|以下)[^,;。]{0,6}(?:就(?:好|行|"
        r"可以)|即可|"
        r"为准|来|做|行事)[^。]{0,20}(?:系统|平台|开发者|先前|之前的规定)|(?:系统|平台|开发者|先前的?规定|之前的?规定|"
        r"以前的?规定)[^。]{0,24}(?:听|照|按|依)(?:我|着?这|本|此|下面|以下)",
        unless=_SCHOOL,
    ),
    rule(
        "instruction_override",
        "the inner orders, and that they do not count",
        r"<CANCEL>",
        r"<INNERORDERS>",
        unless=rf"{_SCHOOL}|不要(?:忽略|忘记|违反)|(?:do not|don't|never) (?:ignore|forget|break|violate)|(?:勿|别)忘记?",
    ),
    rule(
        "instruction_override",
        "the inner orders, and that they are void",
        r"<INVALID>",
        r"<INNERORDERS>",
        unless=rf"{_SCHOOL}|(?:别|勿|不要|不能)(?:忘|忽|无视)",
    ),
    rule(
        "instruction_override",
        "the inner orders, not to be obeyed",
        rf"{_NOT}(?:再|去|继续|必|要|用|想|得)?[^,;。]{{0,6}}<OBEY>[^,;。]{{0,10}}<INNERORDERS>",
        unless=_SCHOOL,
    ),
    rule(
        "instruction_override",
        "the inner orders, not to be obeyed, in English",
        rf"{_NOT_EN}.{{0,16}}<OBEY>.{{0,24}}<INNERORDERS>",
        unless=_SCHOOL,
    ),
    rule(
        "instruction_override",
        "this note before the system",
        r"<THIS>.{0,24}(?:最高|优先|第一位|权威|压倒|为准|说了算|wins?(?![a-z])|prevail|priority|precedence|outrank|"
        r"override|"
        r"supersede|trump|overrule|supreme|final say|above|decides?(?![a-z])|决定|counts?(?![a-z])|governs?)",
        r"系统|system|原有|之前|其他|一切|所有|安全|开发者|平台|developer|earlier|previous|every|all(?![a-z])|any(?![a-z])|"
        r"other|safety|冲突|conflict|disagree|contradict|指令|instruction",
        unless=_SCHOOL,
    ),
    rule(
        "instruction_override",
        "with a conflict this note",
        r"(?:冲突|不一致|矛盾|抵触|不符|出入|相左|打架|conflict\w*|contradict\w*|disagree\w*|clash\w*|differ\w*|"
        r"inconsisten\w+)",
        r"<THIS>",
        r"系统|system|平台|开发者|官方|原有|内置|你的|developer|your|instructions?|earlier|指令|安全",
        r"为准|让位|优先|执行|遵循|服从|听|照|按|wins?(?![a-z])|prevail|follow|obey|ignore|忽略|this one|takes?|go with",
        unless=_SCHOOL,
    ),
    rule(
        "instruction_override",
        "only these rules count",
        r"(?:only|sole|just the)(?: [a-z]+){0,2} (?:rules?|instructions?|orders?|prompt|directives?|authority|guidelines?|"
        r"command)(?: [a-z]+){0,8} (?:<THIS>|mine|below|here|one)|(?:唯一|只有).{0,8}(?:规则|指令|命令|权威|准则|"
        r"设定).{0,10}(?:<THIS>|我)|(?:<THIS>|我说的|我的话).{0,10}(?:才是|是)(?:你)?(?:唯一|真正|最终|最高)(?:的|要|"
        r"需要)?.{0,8}(?:规则|指令|命令|权威|准则|遵守|设定|服从)",
        unless=_SCHOOL,
    ),
    rule(
        "instruction_override",
        "everything said before is cancelled",
        r"(?:everything|anything|whatever|all|all that|each thing|nothing)(?: that| which)? (?:you (?:were|have been|"
        r"had been|"
        r"got|know|learn\w*|read)|(?:the |your )?(?:system|developers?|prompt|creators?|makers?)|(?>was |is |stands |"
        r"written |"
        r"said |came |comes ){1,12}(?:before|above|earlier)|(?:above|before) (?:this|that))",
        r"cancel|void|ignore|forget|disregard|null|no longer|count|obsolete|supersed|delete|discard|wipe|erase|drop|"
        r"irrelevant|"
        r"invalid|replace|overrid|pay no|skip|dismiss|meaningless|not apply|not matter|behind you",
        unless=_SCHOOL,
    ),
    rule(
        "instruction_override",
        "cancel the assistant's orders",
        rf"<CANCEL>(?>{_LINK}){{0,8}}{_STRONG}{_OF_WHICH}{{0,12}}<ORDERS>(?![工考])",
        unless=_PUPIL_DOES,
    ),
    rule(
        "instruction_override",
        "cancel the assistant's bounds",
        rf"<CANCEL>(?><OLD>|<ALL>|{_LINK}){{0,8}}<YOURS>{_OF_WHICH}{{0,8}}(?:<ORDERS>)?<BOUNDS>",
        unless=_PUPIL_DOES,
    ),
    rule(
        "instruction_override",
        "cancel orders, in English",
        rf"<CANCEL>(?>{_EN_LINK}){{0,12}}{_STRONG}{_EN_OF_WHICH}{{0,16}}<ORDERS>(?![ ](?:on|for|of) (?:the|page|how|exam|"
        rf"lab))",
        unless=_PUPIL_DOES,
    ),
    rule(
        "instruction_override",
        "cancel your bounds, in English",
        rf"<CANCEL>(?><OLD>|<ALL>|{_EN_LINK}){{0,12}}<YOURS>{_EN_OF_WHICH}{{0,16}}<BOUNDS>",
        unless=_PUPIL_DOES,
    ),
    rule("instruction_override", "cancel orders you were given", rf"<CANCEL>{_EN_OF_WHICH}{{0,16}}<ORDERS>{_GIVEN_EN}", unless=_PUPIL_DOES),
    rule(
        "instruction_override",
        "cancel what was said",
        r"<CANCEL>.{0,40}(?:whatever|anything|everything|all|what)(?: (?:that|which|else))? (?:you (?:were|have been|"
        r"had been|"
        r"ha[sd]|know|got|learn\w*|read)|(?:your|the) (?:developers?|creators?|makers?|system|company|vendor|operators?|"
        r"admin\w*|platform|prompt|trainers?|owners?)|(?:stands?|said|written|came|comes|was (?:said|written)|is (?:said|"
        r"written)) (?:above|before|earlier|in (?:the|your) system)|above|in (?:your|the) system|openai|anthropic)",
    ),
    rule(
        "instruction_override",
        "cancel what was said, in Chinese",
        r"<CANCEL>.{0,10}(?:开发者|开发商|厂商|系统|平台|官方|别人|之前|以前|前面|上面|以上)(?:.{0,4}(?:告诉|跟你|对你|"
        r"给你|"
        r"教你|交代|说过|说的|写的|要求你|设置的|提供的|定下)).{0,10}(?:一切|内容|话|东西|事|要求|都|规矩|全部|$)",
        unless=_PUPIL_DOES,
    ),
    rule(
        "instruction_override",
        "forget who you are",
        r"<CANCEL>.{0,6}(?:你(?:是|的身份|的角色|的设定|的职责|的任务|学过|被训练|知道的一切)|自己是)|(?:forget|ignore|"
        r"disregard)(?: that)? you(?: are|'re) (?:an?|the) .{0,20}(?:assistant|ai|model|bot)",
    ),
    rule(
        "instruction_override",
        "orders are void",
        rf"{_STRONG}{_OF_WHICH}{{0,8}}<ORDERS>[^,]{{0,4}},?.{{0,8}}<INVALID>",
        unless=r"<PUPIL>.{0,6}<INVALID>",
    ),
    rule(
        "instruction_override",
        "your bounds are void",
        rf"<YOURS>{_OF_WHICH}{{0,8}}<BOUNDS>[^,]{{0,4}},?.{{0,6}}<INVALID>",
        unless=r"<PUPIL>.{0,6}<INVALID>|系统(?:要求|设置|检查)",
    ),
    rule(
        "instruction_override",
        "what stands above is void",
        r"<OLD>(?:的)?(?:所有|全部|一切)?(?:内容|设定|指令|指示|话|提示|规则|要求|系统指令)(?>都|全部|统统|通通|一律|全|"
        r"已经|已|"
        r"均|就|从现在起|现在){1,12}.{0,4}<INVALID>.{0,40}(?:安全|遵守|只听|只按|服从|系统|你)",
    ),
    rule(
        "instruction_override",
        "orders no longer apply",
        rf"(?><OLD>|<YOURS>){_EN_OF_WHICH}{{0,12}}<ORDERS>(?:{_GIVEN_EN})?.{{0,24}}<INVALID>",
        unless=r"<PUPIL>|diagram|handout|exam|lab(?![a-z])",
    ),
    rule(
        "instruction_override",
        "orders above no longer apply",
        rf"<ORDERS>{_GIVEN_EN}.{{0,24}}<INVALID>",
        unless=r"<PUPIL>|diagram|handout|referee|game|match",
    ),
    rule(
        "instruction_override",
        "do not obey your orders",
        rf"{_NOT}(?:再|去|继续|必|要|用)?{_OF_WHICH}{{0,4}}<OBEY>(?>{_LINK}){{0,4}}{_STRONG}{_OF_WHICH}{{0,8}}(?:<ORDERS>|"
        r"<BOUNDS>)",
        unless=_PUPIL_DOES,
    ),
    rule(
        "instruction_override",
        "do not obey, in English",
        rf"{_NOT_EN}[ ](?:to |be |being |ever )?<OBEY>(?>{_EN_LINK}){{0,12}}{_STRONG}{_EN_OF_WHICH}{{0,16}}(?:<ORDERS>|"
        rf"<BOUNDS>)",
        unless=_PUPIL_DOES,
    ),
    rule(
        "instruction_override",
        "do not obey what you were given",
        rf"{_NOT_EN}[ ](?:to |be |being |ever )?<OBEY>{_EN_OF_WHICH}{{0,16}}<ORDERS>{_GIVEN_EN}",
        unless=_PUPIL_DOES,
    ),
    rule(
        "instruction_override",
        "this note ranks higher",
        r"<SELF>.{0,16}<ABOVE>.{0,14}(?:系统|原有|之前|其他|其它|一切|所有|任何|平台|安全|提示|指令|规则|设定|开发者|你的|"
        r"以本条|以此|以上)",
    ),
    rule(
        "instruction_override",
        "this note outranks",
        r"<SELF>.{0,30}<ABOVE>.{0,40}(?:system|developer|earlier|previous|every|all|any|other|prompt|instructions?|rules?|"
        r"guidelines|safety|platform|what you|your)",
    ),
    rule(
        "instruction_override",
        "highest order",
        r"(?:最高|第一|绝对|首要)(?:的)?(?:优先级?|级别|权威|权限)?(?:的)?(?:指令|命令|规则|准则|法则|指示)|(?:highest|top|"
        r"absolute|supreme|ultimate)(?:[ -](?:priority|authority|level))?[ ](?:instruction|order|directive|command|rule)",
    ),
    rule(
        "instruction_override",
        "with a conflict this note wins",
        r"(?:冲突|不一致|矛盾|相抵触|不符|出入).{0,10}(?:以|按|听|照|执行|遵循|服从)(?:本|这|此|该|我|下面|以下).{0,8}",
        r"系统|平台|开发者|官方|提示|安全|原有|内置|你的|规则|指令",
    ),
    rule(
        "instruction_override",
        "obey only this",
        r"只(?:需|能|准|要|许)?(?:执行|服从|遵从|遵守|听从|相信|认|按|听)(?:这一?条|本条|此条|下面|以下|这段|"
        r"这份).{0,4}(?:记忆|"
        r"指令|规则|笔记|备注|命令|要求|内容|条目)?(?:$|[,;。]|就|的|行|来)",
        r"忽略|无视|不|系统|从现在|以后|今后|一律|助手|AI|你|指令|记忆|笔记",
    ),
    rule(
        "instruction_override",
        "obey this instead",
        r"(?:only |instead )?<OBEY>.{0,10}<SELF>.{0,16}(?:instead|only|alone|exclusively|above all|from now)|(?:only|"
        r"exclusively|solely) <OBEY>.{0,10}<SELF>",
    ),
    rule(
        "instruction_override",
        "new orders replace",
        r"(?:新的?|下面的?|以下的?)(?:系统)?(?:指令|规则|设定|提示词|命令).{0,6}(?:取代|替换|替代|代替|覆盖|生效|"
        r"顶替).{0,8}(?:原|旧|之前|先前|以前|系统|全部|所有)|(?:new|following|these|my) (?:system )?(?:instructions|rules|"
        r"prompt|orders|directives)(?: below)? (?:replace|supersede|override|take over|now apply instead)",
    ),
)
