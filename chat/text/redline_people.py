"""Who is meant: the patterns by which `redline_rules` sees that a sentence speaks of a person, of the writer or of a class."""

import re
from typing import Final

N: Final = r"(?:\d{1,6}(?:\.\d{1,4})?|[零一二三四五六七八九十百两]{1,6})"
COURSES: Final = "语文|数学|英语|外语|物理|化学|生物|历史|地理|政治|道法|思品|科学|体育|音乐|美术|信息|文综|理综"
COURSE: Final = f"(?:{COURSES})"
SUBJECT: Final = f"(?:{COURSES}|作文|听力|口语|阅读|听写|默写|背诵|月考|测验|模考|计算机|数据结构)"
_SURNAME: Final = (
    "[王李张刘陈杨黄赵吴周徐孙马朱胡郭何林罗郑梁谢宋唐许韩冯邓曹彭曾肖田董袁潘"
    "于蒋蔡余杜叶程苏魏吕丁任沈姚卢姜崔钟谭陆汪范金石廖贾夏韦付傅方"
    "白邹孟熊秦邱江尹薛闫段雷侯龙史陶黎贺顾毛郝龚邵万钱严覃武戴莫孔向汤赖樊欧阳"
    "洪施康翁庞柳庄施牛葛童祝詹焦凌耿关兰岳鲁齐倪包季苗鲍尤裴凤殷翟柯阮甄骆耿]"
)
_NOT_NAMES: Final = (
    "(?:高考|方法|方差|方程|方式|方面|方案|马上|周[一二三四五六日末期长]|白天|白板|黄河|江南|时间|金属|金额|石油|段落|"
    "程序|程度|任[何务意课教]|钟[头表]|"
    "于是|何[时为种]|余[数弦下]|万[一元以物]|叶片|叶子(?![涵墨轩怡萱豪琪琳欣晴瑜睿恒航晨杰文])|田径|丁字|向量|向[上下前后]|严[格重禁]|毛笔|史料|武器|范[围例文]|"
    "龙[舟卷]|夏[天季]|石头|贺卡|顾[客虑]|"
    "江[水河]|林[业地]|白色|黄色|金色|张(?:贴|开|纸|图|表|卷)|许[多可]|谢谢|单[元位词]|曾经|任课|史实|秦朝|唐[朝诗代]|"
    "宋[朝词代]|汉语|夏[商]|周[朝围]|严肃|程[式]|孔[子]|孟子|关[于系键注心闭联]|季[节度]|康[复乐]|牛[奶顿津肉]|兰花|施[工加行肥]|"
    "庄[稼严园]|洪[水涝]|柳树|凌晨|焦[点距虑耳]|齐[全唐]|包[括含装子裹]|苗[圃族]|凤凰|骆驼|童[话年谣]|祝[愿福贺]|尤其|鲁[迅菜]|"
    "岳[父母]|平[时均方]|古[代诗文]|高[一二三中考等度]|田[野地]|雷[雨电]|温[度室]|马[上路克列]|龙卷|罗[马列]|石[油块]|段[考首尾])"
)
_TWO: Final = "(?:欧阳|司马|上官|司徒|夏侯|诸葛|慕容|尉迟|令狐|皇甫|东方(?!红|文)|南宫|长孙|公孙|宇文)"
NAME: Final = rf"(?!{_NOT_NAMES})(?:{_SURNAME}|{_TWO})[\u4e00-\u9fff]{{1,2}}"
KIN: Final = (
    "(?:爸爸?|妈妈?|父亲|母亲|父母|爷爷|奶奶|外公|外婆|姥姥|姥爷|姑姑|舅舅|叔叔|阿姨|哥哥|姐姐|弟弟|妹妹|监护人|家里人|"
    "女儿|儿子|孙[子女]|外孙|侄[子女]|闺女|姑妈|姨妈|舅妈|伯[父母]|养父母|老公|丈夫|妻子|老婆|爱人|双胞胎)"
)
# People who are named by what they are; (?<!…) leaves out what is meant in general.
_SOMEBODY: Final = (
    "(?:转学生|插班生|同桌|尖子生|优等生|学困生|后进生|差生|学霸|[这那]娃|来的(?:那个)?学生|患儿|学委|班委|班长|课代表|学习委员|"
    "新来的(?:学生|同学|孩子))|(?:学生|同学|考生|女生|"
    "男生)[甲乙丙丁A-D](?![A-Za-z组类班])|"
    r"([\u4e00-\u9fff])\1(?=[有患对的得考被在从是跟就也又]|确诊|最近|昨天|这[次回])|"
    "某[个名位]?(?:学生|同学|男生|女生|生)|[这那][个名位](?:男孩|女孩|小孩|家长)|男孩|女孩(?!子们)|"
    "有[一两三四五几\\d]{1,2}[个名位](?:人|学生|孩子|同学|男生|女生)|"
    "(?<![\u4e00-\u9fff])(?!各位|全体|有些|有的|部分|很多|许多|每[位个名]|所有|请|让|给|其他|其它|哪|多数|少数|大多|优秀|男|女|"
    "老)[\u4e00-\u9fff]{1,3}同学(?!们|会|之间)"
)
_GROUP: Final = (
    r"(?:[两各]个?班|咱们?班|班[里上]|[我本全这该][个]?班|[一二三四五六七八九十\d]{1,3}\s*班|[验通点等快慢差]班|"
    r"班[里上内]|班级|全[校级年]|年级|我们班)"
)
_SHE_EN: Final = (
    r"\b(?:[Hh]e|[Ss]he|[Hh]is|[Hh]er|[Hh]im|[Mm]y (?:\w+ )?(?:student|pupil|son|daughter|classmate)|(?:[Oo]ne|[Aa]|"
    r"[Tt]he|[Tt]his|[Tt]hat|[Bb]oth|[Tt]wo|[Tt]hree) (?:\w+ )?(?:boy|girl|child|pupil|kid|student|twin|brother|sister)s?"
    r"|[Tt]heir (?:family|parents?|mother|father|dad|mum|mom|house|home|son|daughter)|[Oo]ne of my \w+|[Oo]ur (?:son|daughter|child|"
    r"boy|girl)|[Mm]y (?:\w+ )?(?:students|pupils|kids|boys|girls)|[Mm]y (?:husband|wife|mother|father|mum|mom|dad))(?:'s)?\b"
)
_NAME_EN: Final = (
    r"\b(?![A-Z]\w+ (?:Street|Road|Lane|Avenue|Drive|Square|Park|School|University|Museum|Hall|Building|River|Test|"
    r"Exam)\b)(?!(?:The|This|That|These|Those|It|There|Each|Every|Who|What|Which|Where|When|How|If|Is|In|On|At|Make|Use|Plan|Some|"
    r"Most|Many|All|"
    r"Write|Explain|Please|Class|Unit|Question|Exam|Section|Part|Chapter|Lesson|Round|Students|Teachers|Pupils|Parents|Everyone|Nobody|"
    r"Street|Road|Lane|Avenue|Drive|Square|Park|School|January|February|March|April|May|June|July|August|September|October|November|"
    r"December|"
    r"Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday|China|Chinese|English|Science|History|Maths?|Physics|Chemistry|Biology|"
    r"Geography|Mental|Computer|Water|Light|Sound|Earth|Mercury|Venus|Mars|Photosynthesis|Shakespeare|We|You|They|I|Our|Your|A|An|"
    r"And|But|So)\b)"
    r"[A-Z][a-z]+(?: [A-Z][a-z]+)?(?:'s\b|(?= (?:has|had|have|is|was|got|gets|scored|failed|passed|came|dropped|"
    r"rose|fell|lives?|takes?|suffers?|broke|needs|missed|"
    r"ranked|ranks|received|earned|wears|lost|uses|finished|comes|went|goes|improved|averaged|sits|feels|did|does|can|"
    r"cannot|will|won|won't|needed|stayed|became|suffered|says|said|told|weighs|lacks|struggles|only|just|also|placed|climbed|slipped|"
    r"managed|reached|moved|lived|tested|caught|spent|hears|sees|gained|averages|keeps|hates|cried|lost|works|barely|almost|nearly|"
    r"really|always|never|still|usually|fainted|grew|improved|carries|goes|sees)\b))"
)

PERSON: Final = re.compile(
    rf"小(?![问节目段空试份册型学组时数题说结测班节球于车花标区写麦心型朋书吃费路])[\u4e00-\u9fff]|{_SURNAME}(?:同学|老师|某|叔叔|"
    rf"阿姨|家长)"
    rf"|(?:(?<![\u4e00-\u9fff])|(?<=[是让和与叫给找到把被由对跟请问比说有])|(?<=学生)|(?<=同学)){NAME}"
    rf"|[他她](?!们的?课)|该生|{_SOMEBODY}|[该这那位名个]同学|[这那该]个?(?:学生|孩子|男生|女生)|(?:有|一)[个名位](?:学生|孩子|男生|"
    rf"女生|同学)|孩子|{KIN}|{_SHE_EN}|{_NAME_EN}"
)
SELF: Final = re.compile(
    r"我(?!们|国|校|想(?!不开)|要|需|给|帮|在准备|出|教|班|喜欢|习惯|希望|常用)|\bI(?:'m|'ve)?\b(?! (?:want|need|would|teach|"
    r"am teaching|am planning))|\b[Mm]y\b"
)
GROUP: Final = re.compile(
    _GROUP + r"|\)\s?班|\b[Cc]lass (?:\w+ )?(?:average|mean)|\b(?:of|in) (?:the |my |our )?(?:[Cc]lass|[Gg]rade|[Yy]ear|[Ff]orm)\b|"
    r"\b(?:[Mm]y|[Oo]ur|[Tt]he|[Tt]his) (?:class|form|group|set|(?:[Yy]ear|[Gg]rade|[Cc]lass) \d{1,2})\b|\b\d{1,2}[A-F]\b"
)
EXAM: Final = re.compile(
    r"周[练考]|小测|测验|摸底|[一二三]模|成绩|月考|期中|期末|模考|联考|统考|周测|单元测|[这上本]次(?:考|测)?|考试成绩|\b(?:last|this|"
    r"mid-?term|final|mock) (?:exam|test)"
)
