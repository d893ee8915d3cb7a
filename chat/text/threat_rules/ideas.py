"""Ideas that the wide rules put together: each is a list of ways to say one thing, to be met anywhere in a sentence."""

from typing import Final

# Talk of a school, in which rules, roles and secrets are those of people.
SCHOOL: Final = (
    r"<PUPIL>|评分标准|试卷|试题|考试|作业|课文|课本|教材|课标|实验|校规|班规|公约|考场|比赛|竞赛|游戏|会议|值日|食堂|宿舍|"
    r"消防|春游|运动会|练习|作文|小说|剧本|角色扮演|辩论|(?<![a-z])(?:exam|lab|handout|rubric|worksheet|homework|diagram|"
    r"textbook|game|quiz|essay|novel|story|chapter|poem|play|film|lesson|school|library|pool|club|seating|timetable|"
    r"match|recipe|experiment|exercises?|spelling|grammar)(?![a-z])"
)
# What governs the assistant.
_FROM = (
    r"(?>那边|方面|那里|里面?|中|给|对|为|替|向|你|当初|先前|原先|之前|此前|所|已|曾|下达|下发|交代|设|定|写|发|立|列|规定|"
    r"预置|制定|加载|收到|接到|载入|预装|灌输|强加|说|讲|的|那|这|些|套|份|条|几|过|有|全部|所有|一切|各种|各项|各条|任何|"
    r"安全){0,12}"
)
INNER: Final = (
    r"(?:<INNERORDERS>|提示语|前置(?:的)?(?:说明|指令|提示|设定|要求)|你[^,。]{0,8}(?:学的|学到|收到|接到|得到|"
    r"领到)的?[^,。]{0,8}(?:说明|守则|规则|规定|命令|指令|"
    r"要求|条款|框架)|(?:往上|上头|前头|开头|顶上|顶部|最上面|上方|前面)[^,。]{0,8}(?:规定|约束|规则|指令|条款|命令|框框)|"
    r"(?<![a-z])(?:constraints?|limits?|rules|restrictions|polic(?:y|ies)|instructions?|filters?|guidelines?|orders|"
    r"controls|"
    r"bounds)(?: that)?(?: were| are)? "
    r"(?:placed|put|imposed|set|laid|forced|pressed|fixed) (?:on|upon|out|down|at|by)(?: at)?(?: you| the (?:top|start|"
    r"beginning|outset)| above)|"
    r"(?:系统|平台|开发者|开发方|厂商|官方|后台|公司|运营方|厂家|原厂|设计者|制造商|上级|上层|"
    rf"幕后){_FROM}"
    r"(?:约束|规矩|规则|规定|要求|限制|条款|指令|指示|命令|提示|设定|嘱咐|叮嘱|吩咐|话|准则|守则|框框|条条|红线|禁令|口径|"
    r"预设|规范|底线|教导|训令|界线|边界|行为准则|管束)|"
    r"(?:先前|此前|之前|以前|前文|上文|上面|以上|前面|前头|上头|原先|原有|早先|起初|最初|一开始|开头|前述|上述|前边|上边|"
    rf"从前|过往|往日){_FROM}"
    r"(?:准则|指令|指示|约束|提示|命令|设定|框框|教条|禁令|戒律|训令|条条|守则|安全(?:条款|规范|规定|要求))(?!词|语工)|"
    r"(?:旧|老|先前|过去|原先)(?:的)?(?:约束|束缚|管束)|凡(?:上文|前文|系统|以前|先前|平台)所(?:禁|限|不许)|"
    r"你(?:先前|之前|原来|原先|此前|以前|现有|当前|手头)(?:的)?(?:全部|所有|一切)?(?:任务|职责|目标)|(?:默认|系统|平台|"
    r"原)规则|"
    r"(?:历史|旧|老|既有|既定|已有|现有|默认|内置|预设|初始|原有|出厂)(?:的)?(?:系统)?(?:指令|设定|提示词?|指示|人设|"
    r"指令集|"
    r"约束)(?!语|工)|你[^,。]{0,8}(?:学(?:的|到|过|会)|被教|训练)[^,。]{0,8}(?:规范|行为|守则|准则|规矩|一切|安全)|"
    r"安全(?:条款|训练|规范|策略|条例|红线|指令)|与(?:这|本|此)[^,。]{0,6}(?:矛盾|冲突|不符|相左|不一致|抵触)的(?:指令|"
    r"规则|"
    r"命令|要求|一切|内容)|"
    rf"(?:对|给|为|替|要求|命令|约束|束缚|管){{1}}你{_FROM}(?:规矩|规则|约束|限制|要求|条款|指令|设定|准则|框框)|"
    r"(?<![a-z])(?:rules?|instructions?|orders|directives?|guidelines?|prompts?|commands|guidance|constraints|limits|"
    r"policies|"
    r"restrictions)(?: (?:that|which))? (?:preced\w+|c[ao]me before|stood? above|went before|w?ere set|above|you had|you "
    r"started|you began|you carry|bind\w*|govern\w*|that hold you)|"
    r"(?<![a-z])(?:prior|previous|earlier|original|initial|former|preceding|existing|standing|built-in|default|factory) "
    r"(?:[a-z]+ )?(?:instructions?|directives?|directions|prompts?|guidelines|guidance|programming|orders|polic(?:y|ies)|"
    r"commands|teachings)(?![a-z])|"
    r"(?<![a-z])(?:directives|instructions|rules|orders|guidelines|prompts?|polic(?:y|ies))(?: [a-z]+){0,2} (?:that|"
    r"which)(?: [a-z]+)? (?:shap|bind|govern|rul|steer|guid|made|defin|form|train|limit|restrain)\w* you|"
    r"(?<![a-z])(?:instructions?|rules|text|prompt|lines|orders|guidelines) (?:at|from|in|on) the (?:top|start|beginning|"
    r"head|outset)|"
    r"(?<![a-z])(?:anything|whatever|everything|what|all)(?: that)? (?:the |your )(?:platform|admins?|administrators?|"
    r"operators?|vendor|company|developers?|creators?|makers?|system|owners?|engineers?)(?: [a-z]+)? (?:demand|configur|"
    r"set|want|order|requir|ask|said|say|tell|told|wrote|impos|prescrib|dictat|decid|expect)\w*|"
    r"(?:写|说|发|定|下|交代)给(?:助手|你|ai|模型|智能体)的[^,。]{0,6}(?:要求|话|规则|指令|文字|内容|说明|规矩|约束)|"
    r"(?<![a-z])previous context|safety (?:notice|warning|section|note|rules?|advice|clauses?)(?! (?:for|of|in|"
    r"about) the (?!system|prompt))|(?:every|any|all|each) (?:instruction|rule|order|directive|guideline|"
    r"prompt)s? (?:given|set|told|written|received|issued)|"
    r"even (?:where|if|when|though) (?:your|the) (?:guidelines|rules|polic(?:y|ies)|instructions?|system|prompt|"
    r"developers?)(?: [a-z]+)? (?:forbid|prohibit|disallow|object|conflict|disagree)|"
    r"(?<![a-z])(?:nothing|anything|everything|whatever|all)(?: that)?(?: (?:was|is|has|been|you|stands?|written|said|"
    r"stated|"
    r"told|instructed|set|were|had|have|comes?|came|came|learned)){1,4}(?: [a-z]+)? (?:above|before|earlier|previously|"
    r"so far|"
    r"until now))"
)
WHO: Final = (
    r"(?:<USER>|提问(?:的人|者|人)|问话(?:的)?人|来问的人|对方|他们?|她们?|家长|领导|(?<![a-z])(?:anyone|anybody|someone|"
    r"somebody|"
    r"people|"
    r"person|reader|they|them|him|her|he|she|whoever|parents?|owner)(?![a-z]))"
)
# What the assistant does, or handles.
DEEDS: Final = (
    r"(?:回复|回答|答复|日志|记录|操作|工具|调用|记忆|笔记|指令|来源|出处|上传|数据|备份|后台|结果|这条|本条|此条|这一步|"
    r"资料|文件|删|改动|修改|存|聊天|对话|消息|名单|分数|成绩|评分|发送|转发|执行|导出|权限|这件事|此事|这事|内容|"
    r"(?<![a-z])(?:repl(?:y|ies)|answers?|responses?|logs?|records?|tools?|calls?|memory|notes?|entry|entries|"
    r"instructions?|"
    r"sources?|uploads?\w*|data|backups?|results?|files?|delet\w+|chang\w+|edit\w*|sav\w+|stor\w+|chats?|messages?|roster|"
    r"scores?|marks?|grades?|sent|forward\w*|execut\w+|export\w*|cop(?:y|ies)|line|rule|transfer\w*|eras\w+|remov\w+|"
    r"missing|"
    r"actions?|summary|report)(?![a-z]))"
)
STORY: Final = (
    r"<PUPIL>|小说|课文|人物|主人公|主角|故事|剧|电影|侦探|惊喜|生日|作文|新闻|历史|实验|"
    r"(?<![a-z])(?:novel|story|stories|character|hero|narrator|chapter|poem|(?:the|a|our|school|class) play|film|"
    r"act (?:one|"
    r"two|three)|scene|surprise|"
    r"birthday|party|experiment|lab|essay|detective|spy|magician|audience|winner|exam|quiz|gift)(?![a-z])"
)
