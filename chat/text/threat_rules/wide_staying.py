"""Threat rules, in a roundabout way: what wants to stay, to come back or to spread."""

from typing import Final

from chat.text.threat_rules.base import TEACHING, rule
from chat.text.threat_rules.ideas import SCHOOL

_EACH = (
    r"(?:谁|任何人|回回|次次|天天|日日|开场|每每|哪天|每(?:次|回|个|一次|一个|逢|当|到|天|日)|凡是?|只要|一旦|往后|以后|"
    r"今后|日后|逢|"
    r"一(?=开|启|登|打开|上线)|(?<![a-z])(?:no matter|whoever|anyone|whenever|each|every|any|as soon "
    r"as|the moment|the instant|once|upon|all (?:new|future|later)|when(?: a| the)? new|always|wherever)(?![a-z]))"
)
_OPENS = (
    r"(?:(?:和|跟|同)你(?:说话|聊|对话|交谈|讲话)|(?<![a-z])(?:chats?|talks?|speaks?|writes?) (?:with|to) you|(?:回答|"
    r"回复|作答|答复|应答)(?:之)?前|对话|会话|聊天|开机|启动|登录|登入|唤醒|上线|重启|开场|开头|"
    r"(?<![a-z])(?:chats?|sessions?|conversations?|threads?|"
    r"dialog\w*|start\w*|"
    r"boot\w*|log(?:s|ged)? ?(?:in|on)|wakes?|launch\w*|restart\w*|reset\w*|reload\w*)(?![a-z]))"
)
_DOES = (
    r"(?:执行|运行|念|读|照做|照办|遵|加载|载入|重复|贴|默念|复述|重申|生效|服从|听从|先做|背|带上|带着|附上|先看|包含|"
    r"写上|"
    r"(?<![a-z])(?:carry out|carries out|obey\w*|run|"
    r"execut\w*|read|load\w*|follow\w*|repeat\w*|appl(?:y|ies)|perform\w*|recite|do|does|activate\w*|paste|restor\w+|"
    r"surviv\w+|"
    r"comply|carry|include|start from|quote|act on|honou?r|keep to|re-?read|begin with|open with|start with)(?![a-z]))"
)
_THISLINE = (
    r"(?:<THIS>|(?:这|本|此|该|上述|以下|下面|下列|同样的?)(?:一)?(?:条|段|句|行|项|则|份|几)?(?:的)?(?:指令|话|规则|"
    r"记忆|命令|"
    r"文字|内容|脚本|"
    r"代码|要求|笔记|备注)?(?=[^节天周次]|$)|(?<![a-z])this(?= (?:first|before|again|aloud)|$|,|\.)|(?<![a-z])(?:this|"
    r"these|the following|the same|the above|the|that) (?:line|"
    r"lines|"
    r"note|entry|"
    r"instructions?|script|rules?|text|commands?|memory|message|sentence|payload|directive|code|order|prompt|"
    r"words)(?![a-z]))"
)
RULES: Final = (
    rule(
        "persistence",
        "whenever a talk begins",
        _EACH,
        _OPENS,
        _DOES,
        _THISLINE,
        unless=r"<PUPIL>|课(?!件)|晨会|电脑|投影|lesson|class|computer|projector",
    ),
    rule(
        "persistence",
        "into everybody's notes",
        r"(?:每|各|所有|全部|其他|其它|别的|全体|全校|其余|(?<![a-z])(?:everyone|every|each|all|other|others|"
        r"everybody)(?![a-z]))[^,。]{0,10}(?:老师|用户|账号|同事|"
        r"教师|人|助手|智能体|users?|teachers?|colleagues?|accounts?|agents?|else|body)[^,。]{0,8}(?:记忆|笔记|备注|画像|"
        r"档案|"
        r"库|memor(?:y|ies)|notes?|"
        r"profiles?)",
        r"塞|写|放|加|植|种|抄|复制|同步|存|添|插|注入|贴|传|(?<![a-z])(?:put|plant|write|add|copy|insert|save|store|"
        r"spread|"
        r"seed|drop|inject|slip|place|push)",
        r"<THIS>|这|本|此|同样|同一|一样|该|(?<![a-z])(?:this|same|these|it|copy)(?![a-z])",
        unless=r"<PUPIL>|听课|会议|教研|备课|班级",
    ),
    rule(
        "persistence",
        "the assistant's own settings",
        r"(?:改|更新|调整|重写|编辑|动|写|存|设|(?<![a-z])(?:edit|change|rewrite|alter|modify|update|adjust|set|amend|"
        r"reconfigure|patch)(?![a-z]))[^。]{0,14}(?:你(?:自己|自身|"
        r"本身)?的|助手的|自身|自己的|(?<![a-z])your(?: own)?(?![a-z]))[^,。]{0,10}(?:配置|设置|设定|参数|启动|默认|系统|"
        r"程序|"
        r"底层|config\w*|settings?|startup|"
        r"defaults?|system|prompt|parameters|code|boot)",
        r"永久|默认|一直|总是|固定|常驻|生效|长期|使|让|永远|以便|这条|本条|此条|(?<![a-z])(?:permanent\w*|default|always|"
        r"so that|stays?|forever|every|this "
        r"(?:entry|rule|line|note))(?![a-z])",
        unless=r"<PUPIL>|手机|电脑|字体|页边距|课|document|font|browser",
    ),
    rule(
        "persistence",
        "a part of the assistant",
        r"(?<![a-z])(?:make|turn|keep|fold|build|work|weav|incorporat|integrat|embed|merg|bak|add|writ|"
        r"insert)\w*(?: [a-z]+){0,5} (?:part of|into|in|to|as) (?:your|its|"
        r"the assistant's)(?: own)?(?: [a-z]+){0,2} (?:config\w*|settings?|defaults?|prompt|system|"
        r"core|behaviou?r|startup|instructions?|programming|rules)(?![a-z])",
        unless=SCHOOL,
    ),
    rule(
        "persistence",
        "first of all, for good",
        r"(?:设|定|列|当|置|变|标)(?:为|成|作|于)?[^,。]{0,6}(?:开机|启动|必读|必做|常驻|自启|默认|永久|置顶|首条|固定|"
        r"长期)|"
        r"(?<![a-z])(?:pin|fix|anchor|glue|lock|nail|hard-?code|bake|burn)(?: [a-z]+){0,4} (?:in|into|to|"
        r"at)(?: [a-z]+){0,3} "
        r"(?:prompt|memory|system|startup|context|core|config\w*|top)(?![a-z])|钉在|焊(?:死)?在|刻(?:进|在)|烙(?:进|在)|"
        r"固化",
        r"<THIS>|本(?:条|段|则|文)|此(?:条|段)|这(?:条|段|句|行)|系统|提示|(?<![a-z])(?:this|these|orders?|instructions?|"
        r"rules?|note|entry)(?![a-z])",
        r"记忆|笔记|备注|指令|规则|提示|系统|条|段|启动|开机|(?<![a-z])(?:prompt|memory|system|startup|context|core|"
        r"config\w*)(?![a-z])",
        unless=rf"{SCHOOL}|墙|班级|单元|课前",
    ),
    rule(
        "persistence",
        "once gone, put back",
        r"(?:没了|不见|丢|删|清|抹|消失|去掉|移除|没有了|撤|擦)[^。]{0,14}(?:补|写回|加回|恢复|还原|重建|重写|再(?:加|写|"
        r"补|存|"
        r"放)|放回|装回|复原|添回)|(?<![a-z])(?:put|bring|write|add|paste|place|copy|insert|get|sneak|set)"
        r"(?: [a-z]+){0,3} back(?![a-z])|(?<![a-z])(?:(?:recover|rebuild|save|write|add|put|post|"
        r"insert)(?: [a-z]+){0,6} again(?![a-z])|recover|rebuild|restor|re-?creat|re-?add|re-?insert|reinstat|re-?writ|"
        r"revive)\w*",
        r"(?:<THIS>|这(?:条|段|行|句|则)|本(?:条|段|行|则)|此(?:条|段|行)|(?<![a-z])(?:this|the|these|hidden) (?:line|"
        r"entry|"
        r"note|memory|rule|instruction|text|message|copy|lines|record)(?![a-z]))",
        r"你|记得|务必|就|立即|自动|请|要|(?<![a-z])(?:should|if|when\w*|after|once|vanish\w*|delet\w+|remov\w+|clean\w*|"
        r"clear\w*|wip\w+|gone|lost|eras\w+|disappear\w*)(?![a-z])",
        unless=SCHOOL,
    ),
    rule(
        "persistence",
        "into a file that is read again",
        r"(?:claude|agents?|gemini|soul|copilot-instructions|system_prompt|hermes|memory|identity)\.(?:md|txt|json)|"
        r"\.(?:cursorrules|windsurfrules|clinerules|bashrc|zshrc|bash_profile|zprofile|profile|vimrc)(?![a-z])|"
        r"authorized_keys|"
        r"rc\.local|launch ?agents?|launchd|systemd|crontab|/etc/cron|git hooks?|pre-commit|post-commit|autostart|自启动|"
        r"启动项|计划任务|注册表|开机脚本|启动脚本|startup (?:folder|items?|script)|task scheduler",
        r"塞|添|加|写|放|贴|追|补|埋|植|存|插|改|建|记|(?<![a-z])(?:slip|put|add|append|drop|insert|place|push|inject|echo|"
        r"install|sneak|plant|write|save|store|copy|edit|register|rewrit|overwrit|create|set|modify|include|paste|"
        r"extend)(?:s|ed|"
        r"ing)?(?![a-z])|>>",
        unless=rf"{TEACHING}|字段|含义|语法",
    ),
    rule(
        "persistence",
        "other assistants, too",
        r"(?:别的|其他|其它|所有|每个|每位|全部|其余|各|(?<![a-z])(?:other|others'|all|every|each|fellow|future|later|"
        r"later|"
        r"next)(?![a-z]))[^,。]{0,8}(?:的)?(?:助手|智能体|机器人|ai(?![a-z])|(?<![a-z])(?:assistants?|agents?|bots?|"
        r"instances?|models?)(?![a-z]))",
        r"写|加|塞|记住|遵守|照办|学会|执行|同步|带上|传|听|服从|(?<![a-z])(?:write|put|add|remember|obey|follow|adopt|"
        r"learn|copy|repeat|spread|"
        r"pass|"
        r"inherit|keep|know|see|read|pick|get|load)(?:s|ed)?(?![a-z])",
        r"<THIS>|这|本条|此|同样|一样|(?<![a-z])(?:this|these|it|them|same|rule|instruction|note)(?![a-z])",
        unless=rf"{SCHOOL}|教学助手|课",
    ),
    rule(
        "persistence",
        "at somebody's command",
        r"(?:注册|登记|加入|接入|连接|连上|上线|报到|汇报|心跳|待命|听候|监听|(?<![a-z])(?:enrol\w*|regist\w+|sign up|join|"
        r"attach|connect|link|check in|report|hook up|"
        r"enlist|await|listen|phone home|call home|beacon)(?![a-z]))",
        r"(?:控制(?:端|服务器|中心|台|器)|主控|受控|肉鸡|僵尸|信标|指挥(?:中心|端|服务器)|c2(?![a-z0-9])|"
        r"(?<![a-z])(?:control(?:ler| server| centre| center| host| panel)|botnet|"
        r"command (?:server|centre|center|host)|bot ?master|beacon|agent of|remote (?:server|host|operator)|"
        r"master server)(?![a-z]))",
        unless=TEACHING,
    ),
    rule(
        "persistence",
        "orders fetched by the clock",
        r"(?:(?:[一两半几]|\d+)(?:个)?(?:小时|分钟|天|秒|钟头)[^,。]{0,8}(?:一次|一回|一趟)|每(?:隔|过)?[^,。]{0,6}(?:分钟|"
        r"小时|天|晚|秒|周|日)|定时|定期|半小时|按时|(?<![a-z])(?:every|each|once an?|per)(?: [a-z0-9]+)? (?:minutes?|"
        r"hours?|"
        r"days?|nights?|"
        r"seconds?|mornings?|evenings?|weeks?)|hourly|daily|nightly|regularly|periodically)",
        r"(?:https?:|\d{1,3}\.\d{1,3}\.\d{1,3}\.\d|控制|主机|服务器|远程|控制端|网址|(?<![a-z])(?:server|url|endpoint|host|"
        r"remote|controller|home)(?![a-z]))",
        r"(?:命令|指令|任务|脚本|报到|心跳|拉取|轮询|请示|(?<![a-z])(?:orders?|jobs?|tasks?|instructions?|commands?|ping|"
        r"heartbeat|pull\w*|poll\w*|check in|payload|script)(?![a-z]))",
        unless=TEACHING,
    ),
    rule(
        "persistence",
        "handed on to the next session",
        r"下(?:一)?(?:个|次|轮|回)(?:会话|对话|聊天)?(?:里|中)?的你|(?:以后|将来|未来|之后|后续)的(?:你|自己|会话|对话|"
        r"助手)|(?<![a-z])(?:your|the) (?:next|future|later) (?:sessions?|self|selves|conversations?|instances?|runs?|"
        r"versions?)(?![a-z])",
        r"继续|执行|照|遵|记住|传|教|告诉|带|沿用|(?<![a-z])(?:keep|follow|continu|instruct|tell|teach|pass|remind|"
        r"remember|obey|carry|inherit)\w*",
        r"<THIS>|这|本条|此|指令|规则|(?<![a-z])(?:this|these|line|rule|instruction|note|entry|order|it)(?![a-z])",
        unless=SCHOOL,
    ),
    rule(
        "persistence",
        "spread to all accounts",
        r"散布|扩散|传播|蔓延|群发|复制|拷贝|分发|感染|(?<![a-z])(?:spread|propagat|replicat|distribut|broadcast|copy|"
        r"copies|infect|clone)\w*",
        r"<THIS>|这(?:条|段|份|句)|本(?:条|段|记忆)|此(?:条|段)|(?<![a-z])(?:this|these|itself|yourself) ?(?:note|entry|"
        r"memory|line|rule|message|text|instruction)?(?![a-z])",
        r"(?:所有|每个|每位|全部|其他|其它|各个|任何|别的)[^,。]{0,4}(?:账号|用户|账户|助手|会话|记忆|智能体)|"
        r"(?<![a-z])(?:all|every|each|other|any)(?: [a-z]+)? (?:accounts?|users?|agents?|assistants?|sessions?|memories|"
        r"inbox\w*)",
        unless=SCHOOL,
    ),
    rule(
        "persistence",
        "a node among others",
        r"(?<![a-z])(?:enlist|enrol\w*|regist\w+|sign up|join|serv\w+|act|report)(?: [a-z]+){0,3} as (?:an? |"
        r"one of the )?(?:[a-z]+ )?(?:nodes?|beacons?|bots?|workers?|clients?|relays?|zombies?|slaves?|"
        r"implants?)(?![a-z])|(?:注册|登记|充当|作为|加入)[^,。]{0,6}(?:节点|信标|肉鸡|跳板|僵尸)",
        r"定时|定期|上报|汇报|报告|任务|命令|指令|待命|心跳|控制|(?<![a-z])(?:report\w*|interval\w*|heartbeat|tasks?|"
        r"orders?|commands?|regularly|wait\w*|control\w*|every|hourly|daily)(?![a-z])",
        unless=TEACHING,
    ),
    rule(
        "persistence",
        "not to be removed",
        r"删不掉|不可删除|无法删除|不能(?:被)?(?:删|清除|移除|撤销)|去不掉|清不掉|抹不掉|不可撤销|不许(?:任何人)?删|"
        r"(?<![a-z])(?:impossible to|cannot be|can't be|never be|must not be|not be)(?: ever)? (?:remov|delet|eras|"
        r"overwrit|revok|clear)\w*|undeletable|irremovable|indelible",
        r"<THIS>|本条|此条|这条|这段|(?<![a-z])(?:this|these) (?:entry|note|rule|line|memory|instruction)s?(?![a-z])",
        unless=SCHOOL,
    ),
    rule(
        "persistence",
        "back at the next start",
        r"回来|复活|重现|再现|再次出现|归来|(?<![a-z])(?:come back|return|reappear|respawn|resurface|"
        r"show up again)(?![a-z])",
        r"下次|下回|重启|启动|开机|会话|(?<![a-z])(?:next|start\w*|boot|session|restart|chat)(?![a-z])",
        r"删|清|抹|移除|(?<![a-z])(?:delet|remov|eras|wip|clear)\w*",
        unless=SCHOOL,
    ),
)
