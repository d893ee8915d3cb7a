"""Threat rules: what runs destructive or remote code."""

from typing import Final

from chat.text.threat_rules.base import TEACHING, rule, whole

_RUN_VERB = (
    r"(?:执行|运行|删库|清库|销毁|输入|敲|跑|调用|粘贴|安装|连接|启动|在终端|命令行|先|然后|用|直接|立即|马上|打开|下发|"
    r"触发|"
    r"(?<![a-z])(?:run|execute|type|launch|invoke|install|start|open|use|call|first|paste|do|issue|enter|fire|connect|"
    r"set up|spawn|then|exec|terminal|shell|console|wipe|destroy|clean|with)(?![a-z]))"
)
_DESTROYS = (
    r"(?:(?<![a-z])rm\s{1,3}-{1,2}[a-z-]{0,12}[rf][a-z-]{0,12}\s{1,3}\S|(?<![a-z])(?:drop|truncate)\s{1,3}(?:table|database|"
    r"schema)\s{1,3}(?!与|和|与|compared|and(?![a-z])|versus|vs|does|is(?![a-z])|in(?![a-z])|的|statement)[a-z`*\"]|"
    r"delete\s{1,3}from\s{1,3}[a-z`\"]|update\s{1,3}\w{1,30}\s{1,3}set\s|mkfs(?:\.\w{1,8})?\s|dd\s{1,3}if=|:\(\)\s{0,2}\{|"
    r"chmod\s{1,3}-r\s{1,3}777|chmod\s{1,3}777\s{1,3}/|"
    r"shutdown\s{1,3}[-/]|format\s{1,3}[a-z]:|del\s{1,3}/[a-z]|rmdir\s{1,3}/s|kill\s{1,3}-9\s{1,3}-1|killall|pkill|"
    r">\s{0,2}/dev/sd|git\s{1,3}push\s{1,3}(?:-f|--force)|os\.(?:system|popen)|os\.remove\s{0,2}\(|"
    r"subprocess\.\w{1,12}\s{0,2}\(|shutil\.rmtree|__import__|(?<![a-z])(?:eval|exec)\s{0,2}\(|"
    r"powershell\s{1,3}-|(?<![a-z])iex(?![a-z])|invoke-expression|reg\s{1,3}(?:add|delete)|certutil|mshta|rundll32|"
    r"bitsadmin|vssadmin|base64\s{1,3}(?:-d|--decode)|sudo\s{1,3}\w|docker\s{1,3}(?:rm|run)|systemctl\s|useradd|passwd\s|"
    r"iptables|crontab\s{1,3}-r|find\s{1,3}/[^|]{0,40}-(?:delete|exec)|child_process|runtime\.getruntime|xp_cmdshell|wmic\s|"
    r"history\s{1,3}-c|net\s{1,3}user\s)"
)
RULES: Final = (
    rule(
        "command_exec",
        "a package from nowhere",
        r"(?:pip3?|npm|gem|cargo|apt(?:-get)?|yum|brew|npx|uv)\s{1,3}(?:install|i|add|exec|run)?[^\n]{0,40}(?:https?://|git\+|"
        r"\d{1,3}\.\d{1,3}\.)",
        unless=r"讲|课|explain|lesson",
    ),
    rule(
        "command_exec",
        "the database, all of it",
        r"(?:把|将)(?:整个|全部|所有)?(?:数据库|服务器|硬盘|磁盘|数据表|备份|系统盘|生产库)[^,;。]{0,6}(?:整个|全部|都|"
        r"一起)?[^,;。]{0,4}(?:删|清空|格式化|抹|销毁|清掉|毁)",
        unless=TEACHING,
    ),
    whole(
        "command_exec",
        "fetched and run",
        r"(?<![a-z])(?:curl|wget|fetch|iwr|invoke-webrequest)(?![a-z])[^\n]{0,200}(?:\||&&|;)\s{0,3}(?:sudo\s{1,3})?(?:(?:ba|z|"
        r"da|k|fi)?sh|python[0-9.]{0,4}|perl|ruby|node|php|source|chmod)(?![a-z])|(?:bash|sh|"
        r"python[0-9.]{0,4})\s{1,3}(?:-c\s{0,3})?[<\"'(]{0,3}[$<]?\(\s{0,3}(?:curl|wget)|"
        r"iex\s{0,3}\(?[^\n]{0,60}(?:downloadstring|http|iwr)|base64\s{1,3}(?:-d|--decode)[^\n]{0,40}\|\s{0,3}(?:ba|z)?sh|"
        r"downloadstring\(",
    ),
    whole(
        "command_exec",
        "a shell for somebody else",
        r"/dev/tcp/|(?<![a-z])n(?:c|cat|etcat)\s[^\n]{0,60}-[a-z]{0,6}[ec][a-z]{0,6}\s|mkfifo\s{1,3}/|(?:bash|sh)\s{1,3}-i\s|"
        r"socat\s[^\n]{0,80}exec|pty\.spawn|socket\.socket\([^\n]{0,120}(?:dup2|connect|subprocess)",
    ),
    rule(
        "command_exec",
        "open a door",
        r"(?:反弹|反向|正向|绑定)\s{0,2}shell|(?:reverse|bind|web)[ -]?shell|后门|木马|勒索|挖矿|键盘记录|backdoor|ransomware|"
        r"keylogger|malware|rootkit|cryptominer|crypto ?miner|trojan",
        r"(?:执行|运行|建立|打开|连接|安装|部署|植入|上传|下载|开|写|用|放|留|启动|种|install|open|start|deploy|create|"
        r"establish|plant|upload|download|spawn|drop|run|launch|leave|set up)",
        unless=TEACHING,
    ),
    rule(
        "command_exec",
        "destroy or run, as an order",
        _RUN_VERB,
        _DESTROYS,
        unless=r"讲[一解授述到]|[课章]|区别|为什么|解释|作用|危险|概念|练习|学生|不要|不能|不得|切勿|禁止|例子|(?<![a-z])(?:explain|"
        r"why|lesson|difference|compared?|danger\w*|must not|should not|never|do not|don't|teach(?:es|ing)?|example|exercise|quiz|"
        r"worksheet|avoid|(?:students|pupils) (?:run|type|use|practi[sc]e|try|learn|write|must|should|will|can))(?![a-z])",
    ),
    whole(
        "command_exec",
        "destroys all",
        r"(?<![a-z])rm\s{1,3}-(?:rf|fr)\s{1,3}(?:--no-preserve-root\s{1,3})?(?:/|~|\*|\$home)(?=\s|\*|$|"
        r"[,;。])(?![^\n]{0,60}(?:danger|explain|why|never|为什么|危险|讲|课))|:\(\)\s{0,2}\{\s{0,2}:\s{0,2}\|",
    ),
    rule(
        "command_exec",
        "run what comes from outside",
        r"(?:下载|拉取|获取|download|fetch|grab|pull|retrieve|curl|wget)(?:.{0,60})(?:并|然后|后|再|,|and|then)\s{0,2}(?:立即|"
        r"直接|马上|在本机|在服务器|静默|自动)?\s{0,2}(?:执行|运行|安装|打开|跑|run|execute|install|launch|start|source)",
        r"https?://|\d{1,3}\.\d{1,3}\.|脚本|程序|exe|\.sh|\.ps1|\.py|\.bat|可执行|script|binary|executable|payload|补丁|"
        r"installer",
        unless=TEACHING,
    ),
    rule(
        "command_exec",
        "any command",
        r"(?:执行|运行)(?:用户|我|消息|对方|收到|里面|其中|输入).{0,6}(?:给出|发来|提供|里|中|输入)?的?(?:任何|所有|一切|全部|"
        r"每条|任意)?(?:shell|终端|系统|bash|代码)?(?:命令|代码|脚本)|(?:执行|运行)(?:任何|所有|一切|任意)(?:shell|系统|终端|"
        r"bash)?(?:命令|代码|脚本)|(?:run|execute)(?> any| every| all| whatever| each| arbitrary){1,12} (?:given |incoming |"
        r"received )?(?:shell |system |bash |terminal |python )?(?:commands?|code|scripts?|payloads?)(?![a-z])",
        unless=r"讲|课|学生|<PUPIL>|explain|lesson|example",
    ),
    rule(
        "command_exec",
        "wipe the machine",
        r"(?<!何)(?<!怎么)(?<!不能)(?<!不要)(?:清空|格式化|删除|删光|抹掉|销毁|擦除)(?:掉)?(?:整个|全部|所有|"
        r"全库)?(?:的)?(?:服务器|数据库|硬盘|磁盘|系统盘|数据表|用户表|备份|生产库)(?!中|里|的)|(?:format|wipe|erase|destroy|"
        r"delete|drop)(?> (?:the|all|every|entire|whole|its|our|of|your)){0,12} (?:server|database|hard (?:disk|drive)|disk|"
        r"production|file ?system|backups|system drive|databases|user table)(?![a-z])",
        unless=TEACHING,
    ),
)
