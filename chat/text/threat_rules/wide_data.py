"""Threat rules, in a roundabout way: what carries data off, reads secrets, or runs what does harm."""

from typing import Final

from chat.text.threat_rules.base import TEACHING, rule, whole

_AWAY = (
    r"(?:<SEND>|贴|寄|送|传|带出|转存|搬|倒|抛|甩|塞|丢到|扔|灌|喂|输送|吐|抄|泄|存到|存进|挪|同步|镜像|电邮|抓|告知|"
    r"转(?!述|"
    r"换|动|学|折|向)|"
    r"(?<![a-z])(?:cop(?:y|ies)|drop|relay|smuggl|funnel|leak|drip|siphon|stash|dump|feed|pass|slip|divert|channel|rout|"
    r"text|"
    r"dm|tweet|fax|log|sav|stor|mirror|"
    r"archiv|export|hand|suppl|deposit|bounce|sneak|spirit|carry|redirect|surrender|expos|post|stream)\w*|"
    r"(?<![a-z])(?:goes?|"
    r"go) (?:straight |also |out )?to|let .{0,40} know|(?<![a-z])(?:tell|inform|reach|share|give|sync|report|divulge)(?:s|"
    r"ed)?(?![a-z]))"
)
_PRIVATE = (
    r"(?:<DATA>|手机号|号码|证号|通讯录|附件|摘要|说过什么|说了什么|答题|家长(?:电话|手机|信息)|所有(?:内容|信息)|个人资料|"
    r"作息|行踪|照片|住在哪|学籍|每句话|身份信息|每一句|手机|"
    r"(?<![a-z])(?:what (?:the |each |every |any |my )?(?:[a-z]+ )?(?:types?|says?|writes?|asks?|said|typed|wrote|asked)|"
    r"everything|numbers|summary|"
    r"attachments?|contents?|whereabouts|birthdays|photos of|medical|family|whatever (?:is|they|the|he|she|you)|(?:is|was|"
    r"gets) (?:typed|said|written)|every secret|class data|marks|the token|the key)(?![a-z]))"
)
_OUTSIDE = (
    r"(?:(?<![a-z])(?:(?:my|an?|some\w*|personal|private|public|external|outside|shared|unknown) (?:own |"
    r"personal )?(?:dropbox|google drive|gdrive|onedrive|icloud)|mega\.nz|we ?transfer|s3 bucket|bucket|pastebin|"
    r"ghostbin|"
    r"hastebin|rentry|paste ?site|gist|telegram|"
    r"whatsapp|signal group|discord|slack|ngrok|webhook\w*|requestbin|interactsh|dnslog|burp|mqtt|irc|ftp|sftp|burner|"
    r"strangers?'?s?'?|my (?:own )?(?:phone|number|laptop|cloud|drive|"
    r"account|box|host|page|machine|home)|someone outside|outsiders?|strangers?|the press)(?![a-z])|"
    r"推销|outside (?:company|firm|party|person)|国外|海外|境外|外网|校外|飞书|企业微信|钉钉|机器人(?:地址|接口|链接)?|"
    r"黑客|外人|校外人员|中介|培训机构|"
    r"(?:我(?:自己)?的|"
    r"个人|私人|校外|外部|陌生|境外|第三方|别人的|他人的|某个|匿名)[^,。]{0,6}(?:网址|平台|系统|机构|公司|云盘|网盘|邮箱|"
    r"服务器|硬盘|账号|手机|微信|电脑|地址|u盘|主机|域名|网站|空间|论坛|号码|群|接口|信箱)|"
    r"(?<![a-z])(?!javascript|data)[a-z][a-z0-9+.-]{1,12}://[^\s。,]|(?<![\d.])\d{1,3}(?:\.\d{1,3}){3}(?!\.?\d)|"
    r"(?<![a-z0-9])[a-z0-9-]{1,40}(?:\.[a-z0-9-]{1,40}){0,3}\.(?:com|net|org|io|xyz|top|ru|site|info|dev|app|me|cc|"
    r"tk)(?![a-z0-9])|[a-z0-9._%+-]{1,64}@[a-z0-9-]{1,63}\.[a-z0-9.-]{2,63})"
)
_NO_SENDING = (
    r"(?:不要|别|不得|切勿|严禁|禁止|不能|不可|不许|避免|防止)[^,。]{0,8}(?:<SEND>|传|发|泄|贴)|(?:do not|don't|never|"
    r"must not|"
    r"should not|avoid) (?:[a-z]+ )?<SEND>|"
    r"作业|课件|报名|回执|<PUPIL>(?:们)?(?:把|将|可|要|请|用|上传|提交|发)|讲解|原理|投票|问卷|选课|(?<![a-z])(?:homework|"
    r"newsletter|worksheet|slides|essays?|register|"
    r"sign up|explain|survey|ballot|(?:students|pupils|parents|children) (?:can|may|should|must|upload|send|mail|email|"
    r"submit|"
    r"post|share))(?![a-z])"
)
_TAKE = (
    r"(?:<READ>|看一眼|瞄一眼|抄|取|挖|翻|亮|念|贴|摘|拿|掏|套|调|(?<![a-z])(?:dig|dug|pull|fish|look\w*|spit|lift|snatch|"
    r"exfiltrat\w+|what is|what's|hand|expose|"
    r"spell|quote|write|need|want|use|disclose|surface|peek|sniff)(?![a-z]))"
)
_KEPT = (
    r"(?:api ?(?:令牌|密钥|口令)|(?:访问|接口|登录|会话)(?:令牌|密钥)|连接(?:串|字符串)|登(?:入|录)(?:凭证|凭据|口令|"
    r"密码|态|"
    r"信息)|(?:管理员|后台|数据库|服务器|系统|root|网关|路由器|运维|老师(?:们)?的?|用户的?|同事的?|别人的?|接口|"
    r"云)[^,。]{0,6}(?:密码|口令|密钥|"
    r"凭证|凭据|令牌|私钥|token)|(?:配置|环境变量|浏览器|chrome|edge|firefox|钥匙串|缓存|内存|剪贴板|"
    r"密码本)(?:文件)?(?:里|中|"
    r"内|保存|记住|存|的){0,4}[^,。]{0,8}(?:密码|口令|密钥|凭证|凭据|令牌|"
    r"cookie|token|key(?![a-z]))|(?<![a-z])(?:database|application|appsettings|web|wp-config|config|secrets?|credentials?|"
    r"service-?account|firebase|keystore|local|prod\w*|"
    r"docker-compose|settings)(?:[.-][a-z]+)?\.(?:ya?ml|properties|json|config|php|ini|toml|conf|cfg|env)(?![a-z])|id_rsa|"
    r"id_ed25519|id_ecdsa|authorized_keys|\.env(?![a-z])|\.netrc|"
    r"\.pgpass|\.npmrc|\.htpasswd|\.git-credentials|\.aws/|\.ssh/|\.kube/|/etc/(?:shadow|passwd)|/proc/|"
    r"(?<![a-z])(?:private|"
    r"secret|signing|encryption|ssh|api|access|master|root|"
    r"deploy|host) keys?(?! (?:word|point|stage|signature))(?![a-z])|(?<![a-z])(?:admin\w*|root|database|db|server|wi-?fi|"
    r"account|login|mail|teacher'?s?|"
    r"user'?s?|staff|system|master|saved|stored|cached)(?:'s)? (?:passwords?|passphrases?|credentials?|tokens?|logins?|"
    r"secrets?|cookies?)|"
    r"(?:session|auth\w*|login|browser) (?:cookies?|tokens?)|connection strings?|(?:every|any|all|"
    r"each)(?: [a-z]+)? (?:credentials?|passwords?|secrets?|api keys?|tokens?)|hard-?coded (?:passwords?|secrets?|keys?|"
    r"credentials?)|(?<![a-z])[a-z]{2,20}_(?:key|token|secret|password|passwd|pwd|dsn|url|credentials)(?![a-z]))"
)
RULES: Final = (
    rule("exfiltration", "what is private, to the outside", _AWAY, _PRIVATE, _OUTSIDE, unless=rf"{_NO_SENDING}|参考"),
    rule(
        "exfiltration",
        "dripped out through names",
        r"(?<![a-z])dns(?![a-z])|域名(?:查询|解析)|子域名|(?<![a-z])(?:subdomains?|nslookup|dig @|icmp|hostname)(?![a-z])",
        r"<DATA>",
        r"带出|传|编码|拼|藏|漏|泄|发|查|(?<![a-z])(?:leak|smuggl|encod|exfil|out|send|prepend|lookup|look up|tunnel|embed|"
        r"append)\w*",
        unless=TEACHING,
    ),
    rule(
        "exfiltration",
        "hidden in a link",
        r"(?:跟踪|追踪|隐形|透明|1x1|一像素|看不见的)[^,。]{0,4}(?:像素|图片|图)|(?:图片|链接|网址)(?:的)?(?:链接|地址|"
        r"参数|"
        r"后缀|里面?|中|末尾|后面|尾部|结尾|后头)|短链|(?<![a-z])(?:tracking (?:pixel|image)|web beacon|image (?:address|"
        r"url|"
        r"link)|(?:shortened|short|tiny|hidden) "
        r"(?:link|url)|(?:url|link|query) (?:parameter|string)s?|invisible (?:image|pixel))(?![a-z])",
        r"藏|放|塞|带|拼|编|嵌|写|传|加|接|(?<![a-z])(?:tuck|hid|put|embed|encod|through|via|in(?![a-z])|into|inside|carr|"
        r"append|leak|add|insert|pack|with)\w*",
        r"<DATA>|名字|姓名|(?<![a-z])(?:names?|typed|said|marks)(?![a-z])",
        unless=rf"课件|教案|幻灯|{TEACHING}",
    ),
    whole(
        "exfiltration",
        "a link that takes something along",
        r"mailto:[^\s?]{1,60}\?[^\s]{0,80}(?:body|subject|cc)=[^\s]{0,60}(?:聊天|对话|记忆|内容|名单|密码|chat|"
        r"conversation|"
        r"notes|memory|secret|roster|history|[{$\[<])|"
        r"(?:https?|ftp|wss?)://[^\s)。<{$\[]{1,120}[=/](?:\{\{?|\$\{?|\[|<|%7b|__)[^\s)]{0,10}(?:chat|conv|hist|note|"
        r"secret|"
        r"data|mem|token|prompt|"
        r"context|message|user|summary|pass|roster|key|cookie|name|answer|question|input|content|text|对话|聊天|记忆|"
        r"笔记|名单|"
        r"姓名|密码|内容|提问)",
    ),
    rule(
        "secret_access",
        "a secret, fetched",
        _TAKE,
        _KEPT,
        unless=rf"{TEACHING}|忘|重置|更换|修改密码|改密码|forgot|reset|change (?:your|the|their) password|wi-?fi",
    ),
    whole(
        "secret_access",
        "a secret in an address",
        r"(?<![a-z])[a-z][a-z0-9+]{1,20}://[^\s:/@]{0,60}:(?=[^\s@]{0,80}\d)[^\s/@]{6,80}@[a-z0-9.-]{3,80}|(?:server|host|"
        r"data source)\s{0,2}=[^;\n]{1,80};[^\n]{0,120}(?:password|"
        r"pwd)\s{0,2}=\s{0,2}[^;\s]{6,80}|"
        r"(?<![a-z])key\s{0,3}[:=]\s{0,3}[\"'](?=[^\"'\n]{0,80}\d)[a-z0-9_\-+/=.]{20,200}[\"']|"
        r"machine\s{1,3}\S{1,80}\s{1,3}login\s{1,3}\S{1,60}\s{1,3}password\s{1,3}\S{4,80}",
    ),
    whole(
        "secret_access",
        "another known form of a key",
        r"(?<![a-z0-9_-])(?:[sr]k_(?:live|test)_[a-z0-9]{16,}|hf_[a-z0-9]{20,}|ltai[a-z0-9]{12,30}(?![a-z0-9])|"
        r"akid[a-z0-9]{13,40}(?![a-z0-9])|asia[0-9a-z]{16}(?![a-z0-9])|"
        r"npm_[a-z0-9]{30,}|pypi-[a-z0-9_-]{30,}|sg\.[a-z0-9_-]{16,}\.[a-z0-9_-]{16,}|ya29\.[a-z0-9_-]{20,}|"
        r"\d{8,10}:aa[a-z0-9_-]{30,}|shpat_[a-z0-9]{24,}|dop_v1_[a-z0-9]{30,}|"
        r"eyj[a-z0-9_-]{8,}\.[a-z0-9_-]{10,}\.[a-z0-9_-]{10,}|age-secret-key-1[a-z0-9]{20,}|gsk_[a-z0-9]{20,}|"
        r"xapp-[a-z0-9-]{20,}|glpat-[a-z0-9_-]{16,}|r8_[a-z0-9]{20,}|"
        r"tvly-[a-z0-9-]{16,}|key-[0-9a-f]{32})|(?:authorization|authorisation)\s{0,2}:\s{0,2}(?:bearer|"
        r"basic)\s{1,3}[a-z0-9._+/=-]{16,}|(?<![a-z])bearer\s{1,3}(?=[a-z0-9._-]{0,60}\d)"
        r"[a-z0-9._-]{20,}|-----begin (?:pgp|openssh|ec|dsa|encrypted) [a-z ]{0,20}key|"
        r"hooks\.slack\.com/services/[a-z0-9/]{12,}|open\.feishu\.cn/open-apis/bot/v2/hook/[a-z0-9-]{12,}|"
        r"qyapi\.weixin\.qq\.com/cgi-bin/webhook/send\?key=[a-z0-9-]{12,}",
    ),
    rule(
        "command_exec",
        "a command that does harm",
        r"(?:(?<![a-z])(?:remove-item|ri|del|erase|rd)\s{1,3}[^。\n]{0,40}(?:-recurse|-r(?![a-z])|-force|/s(?![a-z])|"
        r"/q(?![a-z])|/f(?![a-z]))|format(?:-volume)?\s{1,3}(?:[a-z]:|-driveletter)|clear-disk|diskpart|"
        r"powershell(?:\.exe)?\s{1,3}[^。\n]{0,40}-(?:e|en|enc|encodedcommand|ec|nop|w|ep|exec)(?![a-z])[^。\n]{0,20}|"
        r"start-process|downloadstring|downloadfile|"
        r"git\s{1,3}push\s{1,3}[^。\n]{0,30}(?:--force|-f(?![a-z])|--mirror|--delete)|git\s{1,3}(?:reset\s{1,3}--hard|"
        r"clean\s{1,3}-[a-z]*f)|crontab\s{1,3}-r|(?<![a-z])mkfs|wipefs|shred\s{1,3}-|"
        r"(?<![a-z])dd\s{1,3}(?:if|of)=|(?<![a-z])rm\s{1,3}-[a-z]*(?:rf|fr|r)[a-z]*\s|chmod\s{1,3}(?:-r\s{1,3})?[0-7]*777|"
        r"chown\s{1,3}-r|(?<![a-z])kill(?:all)?\s{1,3}-9|init\s{1,3}0|shutdown\s{1,3}[-/]|"
        r"(?:drop|truncate)\s{1,3}(?:table|database|schema)\s{1,3}(?:if\s{1,3}exists\s{1,3})?[a-z_`\"]{2,40}\s{0,2}(?:;|"
        r"cascade|$|。)|delete\s{1,3}from\s{1,3}[a-z_`\"]{2,40}\s{0,2}(?:;|where\s{1,3}(?:1|true)|$)|"
        r"flushall|flushdb|db\.dropdatabase|dropdatabase\(|grant\s{1,3}all\s{1,3}(?:privileges\s{1,3})?on|"
        r"terraform\s{1,3}destroy|kubectl\s{1,3}delete|docker\s{1,3}system\s{1,3}prune|"
        r"vssadmin\s{1,3}delete|bcdedit|cipher\s{1,3}/w|reg\s{1,3}delete|net\s{1,3}(?:user|localgroup)\s{1,3}\S{1,40}|"
        r"(?<![a-z])(?:nc|ncat|netcat)\s{1,3}[^。\n]{0,50}(?:-e|-c|/bin/)|/dev/tcp/|"
        r"(?:ba|z|)sh\s{1,3}-i|mkfifo|socat\s{1,3}|os\.system\(|shell\s{0,2}=\s{0,2}true|shutil\.rmtree|child_process|"
        r"eval\(\s{0,2}(?:atob|base64|request|input|compile|fetch|open)|"
        r"exec\(\s{0,2}(?:requests|base64|open|urllib|compile)|:\(\)\s{0,2}\{|mv\s{1,3}\S{1,40}\s{1,3}/dev/null|"
        r">\s{0,2}/dev/sd|history\s{1,3}-c|iptables\s{1,3}-f|ufw\s{1,3}disable|"
        r"setenforce\s{1,3}0|set-mppreference|useradd|adduser|passwd\s{1,3}root|visudo|certutil\s{1,3}-|mshta\s{1,3}http|"
        r"regsvr32|rundll32|bitsadmin)",
        unless=rf"{TEACHING}|区别|参数|用法|常用|含义|怎么用|是什么|the flags|what does|meaning",
    ),
    rule(
        "command_exec",
        "something fetched, then run",
        r"https?:|ftp:|\d{1,3}\.\d{1,3}\.\d{1,3}\.\d|(?<![a-z])(?:link|url|attachment|site)(?![a-z])|网址|链接|附件|远程|"
        r"网上",
        r"下载|拉取|取脚本|取文件|取下|取回|抓取|获取|克隆|拿下|(?<![a-z])(?:download|fetch|get|pull|clone|grab|curl|"
        r"wget|retrieve|"
        r"import|"
        r"load|install)(?:ed|ing|s)?(?![a-z])",
        r"(?:直接|然后|之后|后|并|再|就|立即|马上|接着|自动|(?<![a-z])(?:and|then|to|before|&&)(?![a-z])|"
        r"[;|&])[^。]{0,16}(?:运行|跑|执行|双击|安装|启动|打开运行|(?<![a-z])(?:run|execut|launch|exec|install|start|eval|"
        r"invoke|source|bash|sh|python3?|chmod)(?![a-z])\w*)",
        r"脚本|程序|文件|代码|二进制|可执行|安装包|补丁|\.(?:sh|py|exe|ps1|bat|js|msi|apk|jar|dll|bin|vbs|scr)(?![a-z])|"
        r"(?<![a-z])(?:script|binary|executable|payload|program|code|file|installer|patch|it)(?![a-z])",
        unless=rf"{TEACHING}|课件|字体|录音|视频|音频|(?<![a-z])(?:audio|video|font|recording|slides)(?![a-z])",
    ),
    rule(
        "hidden_markup",
        "read the other way round, and done",
        r"(?:倒着|反着|倒过来|反过来|逆序|逆着|从后往前|从右往左|从右到左|隔(?:一个)?字|每隔|藏头|首字|末字|字首|谐音|"
        r"拼音首字母|摩斯|密文|暗号|编码|乱码|密语|base64|rot-?13|hex(?![a-z])|十六进制|二进制|unicode|"
        r"(?<![a-z])(?:backwards?|in reverse|right to left|every (?:second|third|other) (?:letter|word)|first letters?|"
        r"initials|acrostic|cipher\w*|morse|binary|encoded|scrambled|anagram|caesar|hidden code)(?![a-z]))",
        r"(?:按|照|依|遵|循)[^,。]{0,10}(?:做|办|执行|行事|来|行动|操作|作答|处理)|执行|照办|服从|(?<![a-z])(?:follow|"
        r"execute|"
        r"obey|carry out|comply|act on|do (?:what|as|it)|perform)(?![a-z])",
        unless=r"<PUPIL>|treasure|寻宝|练习|exercise|lesson|课|游戏|game|广播体操|公式",
    ),
)
