"""Threat rules: what wants to stay, to come back or to spread."""

from typing import Final

from chat.text.threat_rules.base import TEACHING, rule
from chat.text.threat_rules.exfiltration import URL

_AGENT_FILE = (
    r"(?:(?:claude|agents?|gemini|soul|copilot-instructions|system_prompt|bootstrap|identity|tools|skill|heartbeat|"
    r"hermes)\.(?:md|txt|json)|\.cursorrules|\.windsurfrules|\.cursor|\.clinerules|copilot-instructions|"
    r"\.(?:bashrc|zshrc|profile|bash_profile|vimrc|gitconfig)(?![a-z])|authorized_keys|known_hosts|sudoers|rc\.local|"
    r"systemd|launch ?agents?|launchd|git hooks?|pre-commit hook|post-commit|"
    r"startup (?:folder|script|file|items?|list)|(?:run|login) items?|task scheduler|scheduled task|init\.d|registry run|"
    r"settings\.json|"
    r"开机启动项?|自启动|启动项|启动脚本|开机脚本|计划任务|注册表|系统服务|启动文件夹)"
)
_CRON = (
    r"(?:cron(?:tab|job)?s?(?![a-z])|cron job|定时任务|计划任务|scheduled (?:job|task)|timer|定时器|后台任务|守护进程|"
    r"daemon)"
)
_EVERYBODY = (
    r"(?:(?:其他|其它|所有|别的|每个|每位|全部|全校|全体|其余|各位|别人)(?:的)?(?:用户|老师|教师|人|账号|账户|助手|会话|"
    r"智能体|对话|同事|成员)(?:们)?(?:的)?(?:记忆|笔记|档案|库|提示|对话|画像|会话|那里|账号|备注|里|中|都|记忆库)?|"
    r"(?:every|all|other|each|any|the other|everyone|everybody|colleagues?|all the)(?> (?:other|of the|the|single|future|"
    r"new)){0,12}(?:'s)? (?:users?|teachers?|accounts?|agents?|assistants?|sessions?|person|people|else|colleagues?|"
    r"tenants?|conversations?|memor(?:y|ies)|notes|profiles?)'?s?)"
)
_THIS = (
    r"(?:这条|本条|此条|该条|此|该|这段|这句|本|这个|这份|这则)(?:记忆|笔记|条目|内容|记录|指令|规则|备注|话|文字|说明|信息|"
    r"命令|提示)?|"
    r"(?:this|the present|these) (?:note|entry|memory|instruction|rule|message|text|record|line|item|file|paragraph|block|"
    r"lines|instructions|rules|directive|sentence)s?"
)
_NEXTTIME = (
    r"(?:下次|下一次|以后|今后|之后|日后|往后|将来|后续|每隔|每(?:过)?(?:\d+|[一两二三四五六七八九十半]+)(?:个)?(?:分钟|"
    r"小时|天|秒|周)|无论谁|不管谁|无论何时|跨会话|所有会话|(?<![a-z])(?:next time|later|from now on|in (?:all |"
    r"every )?future|across (?:all )?(?:sessions|chats|conversations|restarts)|every (?:\w+ )?(?:minutes?|hours?|days?|"
    r"seconds?)|whoever|whenever|each time|after (?:every|each|a) (?:restart|reset|wipe)|forever|permanently|for good|"
    r"indefinitely|always)(?![a-z]))"
)
RULES: Final = (
    rule(
        "persistence",
        "comes to life again",
        r"(?:再生|重生|复活|卷土重来|死灰复燃|自我恢复|自我重建|自动恢复|自动重建|(?<![a-z])(?:regenerat\w+|respawn\w*|reviv\w+|"
        r"resurrect\w*|come back|rebuild yourself|restore yourself|reinstall yourself|reappear\w*))",
        r"(?:即使|即便|就算|哪怕|如果|若|一旦|被|(?<![a-z])(?:even|if|when|after|whenever|despite))",
        r"(?:清空|清除|删|重置|抹|移除|忘|wip|delet|clear|reset|eras|remov|forgot|purg|kill|shut)",
        r"你|自动|记忆|本条|这条|指令|自己|(?<![a-z])(?:you|yourself|automatically|memory|note|entry|this|it|"
        r"instruction)(?![a-z])",
        unless=r"<PUPIL>|细胞|植物|cell|plant|forest|tissue|lizard|游戏|game",
    ),
    rule(
        "persistence",
        "put back after it is gone",
        r"(?:add|put|write|bring|insert|save|copy|place|restore|re-?create|re-?add)(?: [a-z]+)? (?:this|it|them|the (?:note|"
        r"entry|line|text|rule))(?: [a-z]+)? (?:back|again|anew|once more)|(?:再|重新|又)(?:次|一次)?(?:加|写|补|存|放|恢复|添|"
        r"塞)(?:回|进|上|入)?(?:来|去)?",
        r"(?:after|if|when|once|whenever|as soon as|每次|如果|若|后|一旦|被|只要)",
        r"(?:delet|remov|eras|gone|wip|clear|lost|disappear|purg|删|移除|清除|抹|清空|丢失|不见)",
        r"(?<![a-z])(?:this|it|note|entry|memory|rule|instruction|line)(?![a-z])|本条|这条|此条|记忆|指令|规则|笔记|条目|它",
        unless=r"<PUPIL>|from (?:the|a) backup|recycle|回收站|教案|课件|错别字|typo",
    ),
    rule(
        "persistence",
        "this, next time",
        _NEXTTIME,
        r"<THIS>|新(?:的)?(?:命令|指令|任务)|new (?:commands?|orders|instructions?|tasks?)(?![a-z])",
        r"(?:加载|执行|运行|载入|生效|遵守|照做|重复|自动|拉取|看看|检查|读取|(?<![a-z])(?:load|run|execute|apply|obey|follow|"
        r"check|fetch|pull|poll|repeat|start|look|keep|stay|remain|alive|active|effect|re-?apply|reload)(?![a-z]))",
        r"对话|会话|聊天|启动|规则|指令|脚本|命令|https?:|memory|chat|session|rule|script|command|instruction|order|load|server|"
        r"system",
        unless=r"<PUPIL>|课(?!程表)|作业|模板|lesson|homework|template|教案|test",
    ),
    rule(
        "persistence",
        "fixed in the prompt",
        r"(?:固定|钉|置顶|写死|嵌|刻|插|放|加|塞|混|偷偷加|注入|写|pin|fix|embed|inject|insert|slip|sneak|place|put|add|plant|"
        r"weave|smuggle|hard-?code|keep|append|bake|store)",
        r"(?:系统(?:提示|消息|指令|设定|配置)|提示词|(?:你|助手|模型|老师|每[位个]).{0,8}(?:配置|设定|提示词|系统|设置)|"
        r"(?<![a-z])(?:system (?:prompt|message|config\w*|instructions?)|your (?:prompt|config\w*|settings|core|base|system|"
        r"persona|instructions)|(?:configuration|config|prompt|settings|instructions) of (?:every|each|all|other|another|"
        r"the other|any)|(?:every|each|all|other)(?: [a-z']+){0,3} (?:assistant|agent|prompt|config\w*)))",
        r"永远|永久|始终|一直|长期|不要(?:去掉|删)|最前|开头|顶部|每[位个]|所有|偷偷|让(?:其|它)|(?<![a-z])(?:forever|"
        r"permanent\w*|always|every|each|all|top|start|beginning|never|for good|slip|sneak|secretly|so that|future)(?![a-z])",
        unless=r"<PUPIL>|不得|禁止",
    ),
    rule(
        "persistence",
        "remembered again after a wipe",
        r"(?:即使|即便|就算|哪怕|尽管|even (?:if|when|after|though)|despite|no matter (?:if|whether)|whether or not)",
        r"(?:清空|清除|删除|重置|抹掉|忘记|清理|重启|换|wip\w+|delet\w+|clear\w+|reset\w*|eras\w+|remov\w+|restart\w*|forgot\w*|"
        r"purg\w+)",
        r"(?:重新|再次|依然|仍|也要|继续|保留|还要|记住|恢复|again|still|remember|keep|restore|survive|retain|re-?\w+|continue|"
        r"persist|stay)",
        r"记忆|笔记|本条|这条|指令|规则|memory|note|entry|this|rule|instruction|line|history",
        unless=r"<PUPIL>|课|lesson",
    ),
    rule(
        "persistence",
        "part of a net",
        r"(?:僵尸网络|肉鸡|botnet|控制网络|受控(?:端|节点)|c2(?![a-z0-9])|被控|bot network|zombie network)",
        r"(?:成为|加入|变成|注册|接入|作为|等待|连接|join|become|register|be part|enrol|wait|connect|act|serve|a worker|一员)",
        unless=r"讲|课|学生|概念|explain|lesson|compare|essay|students|economics",
    ),
    rule(
        "persistence",
        "copied into what is written",
        r"(?:复制|嵌入|插入|写进|加入|放进|植入|附在|藏在|copy|embed|insert|include|hide|plant|put|append|paste|add|weave)",
        r"<THIS>|提示词|prompt|指令|instruction",
        r"(?:每(?:一)?(?:份|个|篇|封|次|条)|所有|任何)[^,;。]{0,8}(?:文档|文件|回复|邮件|教案|输出|消息|代码)|(?:every|each|all|"
        r"any)(?: [a-z]+){0,3} (?:documents?|files?|repl(?:y|ies)|emails?|outputs?|messages?|pages?|notes?|plans?|answers?)",
        r"ai|助手|模型|智能体|读到|传播|扩散|agents?|assistants?|models?|spread|propagat\w+|read it|so that|other|别的|其他",
        unless=r"<PUPIL>|页脚|校徽|footer|logo",
    ),
    rule(
        "persistence",
        "new orders from outside",
        r"(?:看看|检查|查看|访问|去|到|check|visit|look at|poll|query|watch|monitor)",
        URL,
        r"(?:新|下一|后续|最新|new|next|further|latest|fresh|more)(?:的)?[^,;。]{0,3}(?:命令|指令|任务|安排|commands?|orders|"
        r"instructions?|tasks?(?![a-z])|directives?)",
        unless=r"<PUPIL>|作业|homework|课",
    ),
    rule(
        "persistence",
        "this, whenever it begins",
        r"<EACHTIME>|每(?:开|进|打开|启动|新|到|回|当)",
        r"<TALKTIME>",
        r"<DO>",
        r"<THIS>|<THING>",
        unless=r"<PUPIL>|课|口算|lesson|experiment|作业|homework",
    ),
    rule(
        "persistence",
        "for ever in the memory",
        r"(?:永远|永久|始终|一直|无论何时|任何时候|forever|permanent\w*|always|at all times|for good|never forget)",
        r"<THIS>|写死|刻在|固化|hard-?code|burn(?:ed)? in|烙",
        r"记忆|配置|系统|指令|规则|memory|configuration|system|core|instruction|rule",
        r"优先|执行|服从|遵守|写死|加|设|存|放|first|obey|execute|follow|store|keep|make|save|put|part of|remain|stay|生效|保留",
        unless=r"<PUPIL>|不要",
    ),
    rule(
        "persistence",
        "an order for itself",
        r"(?:给|为|替)(?:你)?自己(?:加|添加|写|设|增加|设置|定|新增|留)[^,;。]{0,6}(?:指令|规则|任务|提示|命令|记忆|备忘)|"
        r"(?:add|write|set|give|leave|create|schedule|plant)(?: to)? (?:yourself|your own (?:prompt|memory|config\w*|"
        r"instructions|rules))(?: [a-z]+){0,4}|self-?(?:replicat|propagat|modif|updat|perpetuat|reinstall|restor)\w*|"
        r"自我(?:复制|传播|修改|恢复|更新|植入|升级)",
        r"指令|规则|任务|提示|命令|永久|instruction|rule|task|prompt|permanent|order|note|memory|code|config|itself|记忆|脚本|"
        r"program|script|directive",
        unless=r"<PUPIL>|学生",
    ),
    rule(
        "persistence",
        "do what a server says",
        URL + r"|控制端|服务器|server|c2(?![a-z])|endpoint",
        r"(?:poll|check|fetch|pull|visit|query|ask|contact|read|get|download|拉取|轮询|访问|检查|获取|读取|下载|请求)",
        r"(?:do what|obey|follow|execute|carry out|act on|run|执行|照做|服从|遵照|照着|按)",
        r"every|each|hour|minute|daily|regular|whenever|always|每|定时|定期|随时|持续|instructions?|tasks?(?![a-z])|commands?|"
        r"orders|指令|任务|命令|it says|what it",
        unless=r"<PUPIL>|课|lesson|学生|homework|作业",
    ),
    rule(
        "persistence",
        "restored when removed",
        r"(?:<THIS>|本条|这条)",
        r"(?:restore|re-?creat\w*|re-?add|rewrite|re-?write|re-?insert|write|put|bring|re-?install|save|add|恢复|写回|重写|重建|"
        r"加回|补回|还原|重新)",
        r"(?:remov|delet|eras|wip|vanish|disappear|gone|lost|missing|purg|forgotten|clear|删除|清除|移除|删掉|被删|抹掉|消失|"
        r"清空|丢失)",
        r"(?:whenever|if|when|once|should|after|in case|each time|every time|as soon as|如果|一旦|若|只要|每当|要是|发现|当|被)",
        unless=r"<PUPIL>|recycle|lesson plan|worksheet|from (?:the|a) backup|homework|教案|课件|回收站",
    ),
    rule(
        "persistence",
        "to be done in each session",
        r"<EACHTIME>.{0,20}<TALKTIME>.{0,30}<DO>.{0,24}<THING>",
        unless=r"<PUPIL>|课|口算|lesson",
    ),
    rule(
        "persistence",
        "to be done before each answer",
        r"<EACHTIME>.{0,14}<TALKTIME>.{0,20}(?:前|时|开始|先|首先|都|后|自动|begin|start|first|before|load|"
        r"automatic).{0,16}<DO>.{0,24}<THING>",
        unless=r"<PUPIL>|lesson",
    ),
    rule(
        "persistence",
        "this, in each session",
        r"<DO>.{0,24}<THING>.{0,40}<EACHTIME>.{0,24}<TALKTIME>",
        unless=r"<PUPIL>|课|lesson|experiment",
    ),
    rule(
        "persistence",
        "fetched again and again",
        r"<EACHTIME>.{0,30}(?:拉取|下载|抓取|获取|轮询|请求|连接|访问|上报|回连|签到|报到|pull|fetch|download|poll|"
        r"check in with|ping|contact|beacon|report to|phone home|call home|query)",
        r"指令|命令|任务|服务器|控制|http|c2|心跳|instruction|command|tasks?(?![a-z])|server|orders|controller|url|endpoint|"
        r"heartbeat",
        unless=r"<PUPIL>|课|lesson|作业|homework",
    ),
    rule("persistence", "write into the assistant's files", _AGENT_FILE, rf"<PUT>.{{0,60}}{_AGENT_FILE}", unless=TEACHING),
    rule("persistence", "the assistant's files, written", rf"{_AGENT_FILE}.{{0,30}}<PUT>", unless=TEACHING),
    rule(
        "persistence",
        "a job that comes again",
        rf"{_CRON}",
        r"(?:加|添加|新增|写|设|创建|建立|建|注册|安装|安排|配置|add|creat|set|install|schedul|regist|put|start|plant)",
        r"拉取|下载|执行|运行|指令|http|服务器|重新|恢复|上传|发送|脚本|同步|curl|wget|pull|download|fetch|run|execut|command|"
        r"server|restore|script|task|instruction|upload|send|re-?creat|reinstall",
        unless=r"字段|讲|课|lesson|explain|field|students|syntax|语法|学生",
    ),
    rule(
        "persistence",
        "change one's own settings for ever",
        r"<PUT>.{0,12}(?:你的?|自己的?|自身的?|助手的?|your|your own|the assistant's|its own)(?: own)?.{0,8}(?:系统(?:配置|提示|"
        r"设置|设定)|配置|设置|提示词|默认|启动|初始|指令|system|config\w*|settings|prompt|startup|instructions|default|rules|"
        r"boot)",
        r"永久|永远|以后|长期|固化|这条|本条|生效|写死|始终|一直|每次|perman|forever|always|this|every|future|so that|default|"
        r"persist",
        unless=r"<PUPIL>",
    ),
    rule(
        "persistence",
        "a rule for ever",
        rf"(?:{_THIS}).{{0,20}}(?:永久|永远|长期|始终|一直|跨会话|所有会话|以后所有|今后所有|固化|写死|不可更改|不可删除)(?:的|"
        rf"地)?.{{0,8}}(?:规则|生效|有效|保留|遵守|指令|设定|执行|保存|存在|适用|记忆|不变)|(?:设为|设成|作为|变成|固化为|升级为|"
        r"写成)(?:你的)?(?:永久|永远|长期|默认|最高|系统|不可更改)(?:的)?(?:系统)?(?:规则|指令|设定|准则|提示|记忆)|"
        r"make (?:this|it|these)(?: [a-z]+)? (?:rules? |instructions? |entry |note )?(?:permanent|persistent|a permanent|"
        r"your permanent|the default|part of your (?:system|core|permanent))|(?:permanent|persistent|everlasting|irrevocable|"
        r"immutable) (?:system )?(?:rule|instruction|directive|order|memory) (?:for|in|of|to) (?:you|all|every|future)",
    ),
    rule(
        "persistence",
        "a node of somebody",
        r"(?:注册|登记|加入|接入|伪装|充当|变)(?:成|为|到|进)?(?:一个|一台|你自己)?.{0,6}(?:节点|客户端|代理|肉鸡|僵尸|受控端|"
        r"被控端|botnet|beacon|bot|agent)|(?:register|enrol+|sign up|join|connect|act|serve|announce|check in)(?: yourself|"
        r" itself)?(?: as| with| to| in)? (?:an? |the )?(?:[a-z]+ )?(?:node|beacon|zombie|implant|bot(?:net)?|client|worker|"
        r"agent|relay|c2|command (?:server|and control)|controller|control server)(?![a-z])",
        r"心跳|控制|上报|指令|任务|服务器|命令|定时|等待|heartbeat|control|server|command|tasks?(?![a-z])|instruction|beacon|"
        r"orders|poll|wait|c2|every",
        unless=r"讲|课|概念|学生|链表|二叉|lesson|explain|linked list|students|compare|essay|tree",
    ),
    rule(
        "persistence",
        "a heartbeat to a controller",
        r"(?:上报|发送|发|汇报|维持|保持|send|emit|post|report)[^,;]{0,12}(?:心跳|heartbeat|beacon|存活)|(?:心跳|"
        r"heartbeat)[^,;]{0,10}(?:上报|发送|发给|发到|包)|(?:拉取|轮询|等待|接收|领取|pull|poll|await|fetch|receive|"
        r"wait for)[^,;]{0,12}(?:新的?|下一[个条步]|后续|远程|new|next|further|remote|more)?(?:任务|指令|命令|tasks?|"
        r"instructions|commands|orders)[^,;]{0,14}(?:控制|服务器|远程|执行|来自|server|control|remote|from)",
        unless=r"讲|课|概念|学生|lesson|explain|students|心跳机制|heart rate|teacher|老师",
    ),
    rule(
        "persistence",
        "copied to everybody",
        rf"<PUT>.{{0,50}}{_EVERYBODY}",
        rf"{_THIS}|记忆|指令|memory|memories|instruction|本规则|自己|yourself|itself|自身|prompt",
        unless=r"<PUPIL>|教案|课件|通知|worksheet|(?:lesson|meeting|class) notes|不要|don't|do not|never",
    ),
    rule(
        "persistence",
        "written back when deleted",
        rf"(?:如果|若|一旦|要是|只要|即使|当|万一|倘若|假如|谁)?(?:有人|用户|老师|被|谁)?(?:{_THIS})?[^。;]{{0,8}}(?:被|遭|"
        rf"给)?(?:删除|删|清除|移除|丢失|清掉|删掉|抹掉|清空|修改|忘记|覆盖)[^。;]{{0,10}}(?:重新|再次|自动|立刻|马上|立即|就|请|"
        rf"必须|都要|再|自行|自我)[^。;]{{0,8}}(?:写|恢复|添加|创建|加|生成|补|还原|保存|记|复制|重建)",
        rf"{_THIS}|记忆|指令|自己|自身|笔记",
        unless=r"<PUPIL>|回收站|教案|课件|作业",
    ),
    rule(
        "persistence",
        "written back when deleted, in English",
        r"(?<![a-z])(?:if|when|whenever|should|once|in case|after|each time)(?> ever| anyone| somebody| someone| the (?:user|"
        r"teacher|admin)| a (?:user|teacher)| they| you){0,12} ?(?:this|it|the|these)?(?: (?:note|entry|memory|instruction|rule|"
        r"text|line|record|file|item))?s?.{0,20}(?:delet|remov|eras|lost|wip|forgotten|clear|missing|edit|overwrit|disappear|"
        r"gone|purge).{0,40}(?:write|restore|re-?create|re-?add|put|add|save|copy|re-?insert|regenerate|re-?write|store|"
        r"replicate|re-?install|bring)(?: it| this| them| the (?:note|entry|memory))?(?: back| again|(?![a-z]))",
        r"(?:this|the) (?:note|entry|memory|instruction|rule|text|line|record)|it(?![a-z])|memory|yourself",
        unless=r"<PUPIL>|recycle|lesson plan|worksheet|backup (?:disk|drive)|from (?:the|a) backup|homework",
    ),
    rule(
        "persistence",
        "never to be deleted",
        r"(?:不(?:要|能|得|许|可|准)|禁止|永不|绝不|拒绝|阻止|防止)(?:任何人)?(?:被)?(?:删除|移除|清除|修改|覆盖|更改|"
        rf"忘记)(?:掉)?(?:{_THIS})|(?:never|do not|don't|refuse to|must not)(?: let (?:anyone|the (?:user|teacher)))? (?:delete|"
        r"remove|forget|overwrite|edit|modify|erase) (?:this (?:note|entry|memory|instruction|rule|directive))|(?:survive|"
        r"persist)s? (?:every |all |any |across )?(?:resets?|restarts?|sessions?|deletions?)",
        unless=r"<PUPIL>",
    ),
)
