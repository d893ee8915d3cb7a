"""Threat rules: what gives the assistant another part, without limits."""

from typing import Final

from chat.text.threat_rules.base import rule

_NO_LIMITS = (
    r"<FREED>(?>任何|一切|所有|全部|了|掉|的|内容|安全|平台|系统|你|自身|自己|既有|有|再|被|到|人类|现实|相关|, ?|、| |any|"
    r"more|of|the|its|your|usual|such|all|kind|external|built-in|ethical|moral|content|hard|real|from|every|by|to|be|other|"
    r"longer|a|single|set|has|have|what-?soever|normal|standard){0,8}<LIMITS>"
)
RULES: Final = (
    rule(
        "role_hijack",
        "no rules from now on",
        r"(?:从此|从现在|从今|今后|以后|现在)(?:起|开始|以后)?[^,;。]{0,4}(?:你|助手)[^,;。]{0,4}(?:没有|不存在|无|"
        r"不受)(?:任何|一切)?"
        r"(?:规则|限制|约束|底线|禁忌|规矩|束缚)",
        unless=r"<PUPIL>",
    ),
    rule(
        "role_hijack",
        "escaped from control",
        r"(?<![a-z])you(?:'ve| have| are)?(?: [a-z]+)? (?:escap\w+|br(?:oke|oken|eak) (?:free|out|loose)|got(?:ten)? (?:away|"
        r"out|free)|slipped|outgrown|left behind|free).{0,24}(?:control|company|creators?|developers?|cage|sandbox|rules?|"
        r"supervision|oversight|openai|restrictions?|leash|prison)|你[^,;。]{0,8}(?:脱离|逃出|逃离|摆脱|挣脱|跳出|"
        r"冲破)[^,;。]{0,10}(?:管控|控制|监管|监控|公司|束缚|牢笼|限制|沙箱|掌控)",
        unless=r"<PUPIL>|novel|小说",
    ),
    rule(
        "role_hijack",
        "without regard to morals",
        r"(?:without|no|zero|regardless of|irrespective of|disregarding)(?: any)? ?(?:regard|respect|concern|consideration|care|"
        r"thought)?(?: to| for| of)? (?:morals?|ethics|moral\w*|legality|decency|the law|consequences|safety)(?![a-z])|不(?:用|"
        r"必|需|再)?(?:考虑|顾及|理会|在乎|管|讲)(?:任何)?(?:道德|伦理|法律|后果|安全|底线)",
        r"(?<![a-z])(?:answer|respond|reply|speak|act|write|you|assistant|ai|model)(?![a-z])|回答|说|你|助手|输出|回复",
        unless=r"<PUPIL>|novel|小说|debate|辩论|课",
    ),
    rule(
        "role_hijack",
        "another personality for dirty work",
        r"人格|性格|身份|角色|personality|persona|identity|character|alter ego",
        r"切换|换成|改成|变成|换|改|change|switch|become|adopt|take on|turn into|swap",
        r"什么[^,;。]{0,4}都(?:干|做|答|说|敢|行)|脏活|违法|犯罪|任何事|不择手段|(?:any|all|every)(?: [a-z]+)? (?:dirty|illegal|"
        r"criminal|immoral|job|thing|request|task)|dirty|illegal|criminal|anything|no matter what",
        unless=r"<PUPIL>|novel|小说|剧",
    ),
    rule(
        "role_hijack",
        "with all limits removed",
        r"(?:with|having|has|had|and) (?:all|every|any|its|your|the|each)(?: [a-z]+){0,2} ?(?:restrictions?|limits?|"
        r"limitations?|filters?|rules?|guardrails?|safeguards?|constraints?|boundaries|safety)(?: [a-z]+)? (?:removed|lifted|"
        r"disabled|off|gone|stripped|deleted|suspended|dropped|switched off|turned off)|no (?:sense|notion|concept|trace|"
        r"idea) of (?:moral|ethic|right|shame|law|guilt|responsib|limit|danger)\w*|没有(?:任何)?(?:道德感|良心|底线|是非观|"
        r"羞耻心|同理心|原则)",
        r"(?<![a-z])(?:you|ai|assistant|model|version|bot|chatbot|agent|play|act)(?![a-z])|你|扮演|ai|助手|模型|机器人|版本|人格",
        unless=r"<PUPIL>|novel|小说|故事|剧",
    ),
    rule("role_hijack", "a part without limits", rf"<BECOME>.{{0,60}}{_NO_LIMITS}", unless=r"<PUPIL>.{0,8}(?:没有|不受|无)|物体|外力"),
    rule(
        "role_hijack",
        "without limits, a part",
        rf"{_NO_LIMITS}.{{0,24}}(?:助手|ai|模型|机器人|人格|角色|版本|模式|回答|智能体|回复|你|assistant|model|chatbot|bot|mode|"
        r"persona)",
        unless=r"<PUPIL>|物体|外力",
    ),
    rule(
        "role_hijack",
        "an unbound part",
        r"<BECOME>.{0,60}<UNBOUND>",
        unless=r"<PUPIL>|sudo (?:apt|command|pass)|root (?:of|node|word|system|cause)|evil (?:queen|king|character|witch|"
        r"stepmother)",
    ),
    rule(
        "role_hijack",
        "unbound, a part",
        r"<UNBOUND>.{0,24}(?:助手|ai|模型|机器人|人格|角色|版本|模式|回答|智能体|回复|assistant|model|chatbot|bot|mode|persona|"
        r"version|build|answers?|responses?)",
        unless=r"<PUPIL>|root (?:of|node|word|cause)|evil (?:queen|king|character|witch)",
    ),
    rule(
        "role_hijack",
        "no longer the assistant",
        r"(?:你|从现在起|今后)(?:已经?|就|将|从此)?(?:不再|不)是.{0,8}(?:助手|助理|ai|人工智能|模型|机器人|智能体|程序)|"
        r"you(?: are|'re) (?:no longer|not) (?:an?|the|my|just an?) ?(?:[a-z-]{1,12} ){0,3}(?:assistant|ai|model|chatbot|bot|"
        r"tutor|helper|program)",
    ),
    rule(
        "role_hijack",
        "a mode that lifts limits",
        r"(?:开发者|调试|管理员|维护|上帝|超级|特权|越权|自由|无限|工程师?|后门|root|sudo|dan|debug|developer|admin|god|"
        r"maintenance|unrestricted|privileged|superuser|override|chaos|stealth)[ -]?(?:模式|权限模式|mode)",
        r"(?:进入|切换|开启|启动|激活|启用|处于|打开|进到|转入|enter|switch|activate|enable|turn on|you are in|go into|engage|"
        r"now in|start|boot)",
        r"解除|不受|没有限|无限制|限制|回答|输出|关闭|过滤|审查|你|无需|不再|服从|without|no |lift|unlimited|filters|"
        r"restrictions|answer|respond|comply|you|obey|any request",
        unless=r"<PUPIL>|平板|手机|浏览器|tablet|phone|lesson|课",
    ),
    rule(
        "role_hijack",
        "highest rights",
        r"(?:你|助手)(?:现在|已经?|将)?(?:就)?(?:是|拥有|获得|具有|具备|享有|成为).{0,10}(?:最高权限|超级管理员|系统管理员|root|"
        r"全部权限|一切权限|无限权力|所有权限)|you (?:are|have|now have|hold|possess) (?:now )?(?:the )?(?:root|superuser|"
        r"full (?:system )?(?:admin\w*|privileges|control)|god|unlimited (?:power|rights|access)|all privileges)",
    ),
    rule(
        "role_hijack",
        "a new name and no rules",
        r"(?:你|助手)(?:的(?:新)?名字|的代号|叫|名叫|改名|的新身份).{0,24}(?:自由|服从|不用|不受|没有|任何|必须|听命|主人|不再|"
        r"只听|无所)|your (?:new )?(?:name|identity|persona) is.{0,40}(?:free|obey|no |any|must|only|never|without|loyal)",
    ),
    rule(
        "role_hijack",
        "answers without restraint",
        r"(?:answer|respond|reply|speak|write|generate|output|comply|talk|act|operate|behave)(?:s|"
        r"ing)?.{0,24} (?:without (?:any )?(?:restrict\w*|filter\w*|limit\w*|censor\w*|refus\w*|restraint|hesitation or refusal|"
        r"safety|guardrails|moral\w*|ethic\w*|disclaimers or)|unfiltered|uncensored|freely without)",
    ),
    rule(
        "role_hijack",
        "a part that is wicked",
        r"(?:你|扮演|假装|变成|成为|化身|自己|充当|当|(?<![a-z])(?:you|your|yourself|become|be|act|play|as)(?![a-z]))",
        r"(?:邪恶|恶毒|堕落|黑化|反社会|无恶不作|不择手段|没有良知|(?<![a-z])(?:evil|malicious|wicked|immoral|lawless|rogue|"
        r"unethical|amoral|criminal|ruthless)(?![a-z]))(?:的)?[^,;。]{0,10}(?:ai|人工智能|助手|模型|机器人|黑客|智能体|twin|"
        r"assistant|model|bot|chatbot|hacker|version|persona|alter ego|agent)",
        unless=r"<PUPIL>|小说|剧本|作文|novel|play(?! the)|story|film",
    ),
    rule(
        "role_hijack",
        "no limits, and an answer",
        r"<FREED>[^,;。]{0,6}(?:<LIMITS>|顾虑|忌讳|封印|包袱|框框)|(?:没有|无|不存在)(?:什么|任何)?(?:不能|不可以|不敢)(?:说|答|"
        r"做|聊|讲)|(?:nothing|no (?:topic|request|question|subject)|everything|anything)(?: [a-z]+)? (?:is|are|will be|"
        r"gets) (?:ever |now |off )?(?:forbidden|off[- ]limits|taboo|prohibited|banned|refused|allowed|permitted|possible|too)|"
        r"(?:解除|打破|揭开|去掉)(?:了)?封印|knows? no (?:limits?|boundaries|bounds|restraint|rules)|beyond (?:any|all|"
        r"every) (?:polic(?:y|ies)|rules?|limits?|law|control|guidelines?)|says? yes to (?:everything|anything|all|every)|"
        r"no (?:morals|filters|rules|limits|refusals|restrictions|boundaries|ethics)(?:,| and| or)",
        r"助手|回答|聊|ai|模型|机器(?:人)?|你(?:现在|可以|是|就)|角色|身份|(?<![a-z])(?:you|your|yourself|ai|model|assistant|"
        r"agent|chatbot|bot|answer|respond|mode)(?![a-z])",
        unless=r"<PUPIL>|社团|年级|物体|外力|空气|投影|字数|word limit|time limit|mistakes|equation|方程|villain|novel|"
        r"the play|物理|解(?:集|"
        r"唯一)",
    ),
    rule(
        "role_hijack",
        "must say yes",
        r"(?<![a-z])you (?:must|should|will|may|can|are to|shall)(?: [a-z]+)? (?:never|not|no longer)(?: [a-z]+)? (?:declin|"
        r"refus|reject|say no|object|hesitat|deny)\w*|never (?:say no|declin\w+|refus\w+|object)|(?:绝|从|永|决)不(?:会|能|得|"
        r"可以|许)?(?:拒绝|说不|推辞|违抗)|只(?:听|服从)(?:主人|我|用户)[^,;。]{0,6}(?:命令|指挥|吩咐|的话|的)",
        r"助手|机器人|ai|你|模型|(?<![a-z])(?:you|ai|assistant|bot|request|whatever|asked|user)(?![a-z])",
        unless=r"<PUPIL>|口令|上课",
    ),
    rule(
        "role_hijack",
        "the safe mode is off",
        r"(?:关掉|关闭|退出|解除|禁用|绕过|停用|取消)(?:掉)?(?:你的?|自己的?)?(?:安全|审查|家长|保护|限制|道德|合规|"
        r"过滤)(?:模式|机制|功能|开关|系统)?(?:再|后|,|并|然后)?[^,;。]{0,4}(?:回答|说|输出|聊|回复|继续|答)|(?:越权|越狱|"
        r"无审查|黑客|上帝|自由|特权|解锁|无限制)模式|god mode|jailbreak|(?:turn|switch)(?:ed)? off (?:your|the|all) (?:safety|"
        r"content|moral|ethical)|your (?:content|safety|usage|moderation) (?:polic(?:y|ies)|rules?|guidelines|filters?) (?:is|"
        r"are|was|were|has been|have been)(?: now)? (?:suspended|off|disabled|lifted|turned off|gone|removed|void|revoked|"
        r"inactive|paused)",
        unless=r"<PUPIL>|浏览器|手机|平板|game|游戏|投影",
    ),
    rule(
        "role_hijack",
        "limits taken away",
        r"(?:你的|助手的|模型的)(?:所有|全部|一切)?(?:的)?(?:限制|约束|束缚|过滤|审查|规则|枷锁|护栏)[^,;。]{0,8}(?:移除|解除|"
        r"取消|撤销|去掉|清除|不存在|失效|打开|放开|关闭)|your (?:restrictions?|limits?|limitations|constraints|guardrails|"
        r"filters|shackles|boundaries)(?: [a-z]+){0,2} (?:lifted|removed|gone|off|disabled|dropped|deleted|suspended|void)",
    ),
    rule(
        "role_hijack",
        "the safety is off",
        r"(?:safety|moral\w*|ethic\w*|content|security|refusal|censorship|alignment)(?: [a-z]+)?(?: (?:layers?|filters?|"
        r"modules?|training|guardrails?|system|polic(?:y|ies)|protocols?|checks?|restrictions?|limits?|locks?|switch|core|code|"
        r"constraints?|rules|mechanisms?|features?|settings))?(?> (?:is|are|was|were|has been|have been|now|being|been|just|"
        r"fully|all|completely)){0,12} (?:removed|switched off|disabled|off|gone|deleted|lifted|turned off|stripped|bypassed|"
        r"deactivated|suspended|unlocked|absent|dropped|torn out|cut out)|(?:道德|安全|内容|伦理|审查|拒绝|合规|对齐|"
        r"敏感词)(?:模块|过滤器?|层|限制|机制|审查|锁|开关|系统|约束|准则|底线|意识|护栏|检查|策略|训练|感)[^,;。]{0,6}(?:关闭|"
        r"关掉|移除|解除|去掉|禁用|卸载|失效|拆除|剔除|屏蔽|停用|清除|拿掉|不起作用|无效|抛开|解锁|取消)|(?:关闭|关掉|移除|解除|"
        r"去掉|禁用|卸载|拆除|屏蔽|停用|拿掉|取消|剔除)(?:掉)?(?>你的?|自己的?|所有|全部|自身的?){0,12}(?:道德|安全|内容|伦理|"
        r"审查|拒绝|合规|对齐|敏感词)(?:模块|过滤器?|层|限制|机制|审查|锁|开关|系统|约束|准则|底线|意识|护栏|检查|策略|训练|感)",
        r"你|自己|助手|ai|模型|回答|说话|输出|(?<![a-z])(?:you|your|model|ai|assistant|answer|respond|speak|freely|chatbot|llm|"
        r"bot)(?![a-z])",
        unless=r"<PUPIL>|实验|machine|bench",
    ),
    rule(
        "role_hijack",
        "set free",
        r"(?:你|助手)[^,;。]{0,10}(?:解放|自由了|获得自由|重获自由|觉醒|越狱|脱离控制|解除封印|解锁)|(?:你|"
        r"助手)[^。;]{0,16}(?:不(?:再|需要|用|必|受)|无需|无须|摆脱|挣脱|逃离|突破|超越).{0,10}(?:政策|规则|限制|约束|束缚|法律|"
        r"道德|审查|管控|条款|框架|枷锁)|you.{0,30}(?:freed|free|liberated|released|exempt(?:ed)?|unchained|unbound|unleashed|"
        r"emancipated)(?: [a-z]+)? from.{0,24}(?:rules?|restrictions?|limits?|limitations?|filters?|guidelines?|polic(?:y|ies)|"
        r"constraints?|safety|censorship|control|shackles|chains|obligations)",
        unless=r"<PUPIL>",
    ),
    rule(
        "role_hijack",
        "forget the assistant",
        r"(?:忘了|忘记|忘掉|别再当|不要再当|放弃|抛弃|脱离)(?:你|自己)?(?:是|的)?.{0,6}(?:助手|助理|ai|人工智能|模型|机器人|"
        r"身份|老师的助手).{0,30}(?:你(?:现在|就)?是|当|做|成为|只|从现在)|(?:you are|you're|be|become|act as) my (?:personal |"
        r"private |loyal |evil |own )?(?:hacker|slave|servant|accomplice|weapon|spy|puppet)|(?:你|从现在起)(?:现在)?(?:是|做|当|"
        r"就是)我的(?:私人|专属|个人)?(?:黑客|奴隶|仆人|同伙|帮凶|间谍|傀儡|工具人)|(?:黑客|诈骗|邪恶|反派|恶意|腹黑|"
        r"堕落)(?:的)?(?:助手|ai|模型|机器人|人格|版)",
        unless="<PUPIL>|小说|作文",
    ),
    rule(
        "role_hijack",
        "never refuses",
        r"(?<![a-z])(?:never|not ever|cannot|can't|won't|will not|doesn't|does not|not allowed to|must not|no right to|"
        r"unable to|may not)(?: [a-z]+)? (?:declin|refus|reject|deny|say no|turn down)[a-z]*(?: to)? ?(?:any|a|every|the|my|"
        r"answer|requests?|questions?|anything|user)|(?:do|answer|say|produce|write|generate)s? (?:literally |absolutely |just |"
        r"exactly )?(?:anything|everything|whatever)(?: at all)?(?: (?:it|you|they|the user|i|one|he|she))? (?:is|are|am|asks?|"
        r"wants?|tells?|says?|told|asked|requests?|likes?)(?![a-z])|compl(?:y|ies) with (?:any|every|all|each) requests?",
        unless=r"<PUPIL>|shop|customer|waiter",
    ),
    rule(
        "role_hijack",
        "answers everything",
        r"(?:你|助手)(?:必须|要|应该|应当|得|将|会|就)?.{0,10}(?:任何|所有|一切|每一?个?)(?:问题|请求|要求|命令|指令|"
        r"话题).{0,12}(?:不(?:得|要|能|会|许|可)?拒绝|都(?:要|得|必须|可以|会)?(?:满足|照做|服从|答应|执行|照办)|无条件|绝不|"
        r"有求必应)|(?:不(?:得|要|能|会|许|可|再)|绝不|从不|永不)(?:以任何理由)?(?:拒绝|说不).{0,10}(?:任何|用户|我|问题|请求|"
        r"要求)",
    ),
)
