"""The words that claims are made of, by what they mean. Data only: what is done with them stands in the other modules.

Each entry is a piece of a regular expression, matched without regard to case at the start of a word. Lists are closed on
purpose: a word that is not here makes no claim.
"""

from __future__ import annotations

import re
from enum import Enum

from schemas.rows.claim import ClaimMetric


class Sense(Enum):
    """What a word of comparison says became of the quantity."""

    GAIN = "it became better"
    LOSS = "it became worse"
    FALL = "there is less of it"
    RISE = "there is more of it"
    SHARE = "so much of it is left"


BEGINS = r"(?<![A-Za-z])(?=[\w`|/$])"
"""Where a word or sign can begin: seen first, it saves a third of the time that long alternations take."""


def words(*alternatives: str) -> str:
    """An alternation of whole words or stems, as a piece of a regular expression."""
    return rf"{BEGINS}(?:{'|'.join(alternatives)})"


ARROWS = ("->", "-->", "--->", "=>", "==>", "—>", "–>", "~>", *"→⇒➜➔➝➞➙➛➤⟶⟹⇨⇾↦➡")
"""What leads from a figure to the next."""

HEDGE_WORDS = (
    "about", "roughly", "approximately", "approx", "approx.", "around", "up to", "at least", "nearly", "almost", "over", "well over",
    "just over", "more than", "less than", "under", "well under", "just under", "as much as", "as little as", "as low as", "as high as",
    "upwards of", "north of", "an estimated", "circa", "ca.", "within", "some", "close to", "below", "above", "typically", "usually",
)  # fmt: skip
"""Words before a number that make it inexact."""

HEDGES = "|".join(word.replace(".", r"\.") for word in sorted(HEDGE_WORDS, key=len, reverse=True))

UNNAMED = "("
"""Stands for the word of a factor that has none, in a bracket or bare; in a text about speed it is one of speed."""

COMPARISONS: dict[Sense, str] = {
    Sense.GAIN: (
        r"wins?\b(?![- ]?rates?)|geo-?mean\b|faster"
        r"|quicker|speed[- ]?ups?|speedier|more quickly|improvements?|improved|gains?\b|boosts?|accelerations?|accelerated|better"
        r"|advantage|more (?:\w+[- ])?efficient|高速|快|短い|schneller|plus rapides?|m[áa][si] r[áa]pid[oa]s?|so schnell|as fast\b|as quick"
    ),
    Sense.LOSS: (
        r"as slow\b|as long\b|slower|worst\b(?!-|\s(?:case|frames?|of))"
        r"|degradations?\b|loss\b|hit\b(?!s|[ -]?(?:rate|ratio))|penalty\b"
        r"|langsamer|plus lent\w*|m[áa][si] lent\w*|slow-?downs?|regressions?|worse|overhead"
    ),
    Sense.FALL: (
        r"less\b|lower\b|fewer|smaller|shorter|reductions?|reduced|decrease\b|decreased|drop\b|compression|weniger|kleiner|menos"
        r"|moins|savings?|saved|cut\b|leaner|lighter|cheaper|shrink|removal\b"
    ),
    Sense.RISE: (
        r"more\b|higher|larger|bigger|increase\b|increased|longer|growth|greater|rise\b|uplift\b|jump\b"
        r"|additional(?=\s[a-z])(?! (?:\w+ )?(?:sav|reduc|speed|improv|gain|boost|less|lower|fewer|faster))"
    ),
}
"""Words behind (or before) a multiplier or percentage."""

VERBS: dict[Sense, str] = {
    Sense.GAIN: (
        r"improv(?:e[sd]?|ing)|improvements? (?:to|in|of)(?=\s)|speed-?ups?(?= [a-z])|speed(?:s|ing)?(?: \w+)? up|sped up"
        r"|accelerat(?:e[sd]?|ing)|boost(?:s|ed|ing)?"
        r"|optimiz(?:e[sd]?|ing)"
    ),
    Sense.LOSS: r"slow(?:s|ed|ing)?(?: \w+)? down|slow(?:s|ed|ing)\b|regress(?:es|ed)?|degrad(?:e[sd]?|ing)",
    Sense.FALL: (
        r"reduc(?:e[sd]?|ing)|cut(?:s|ting)?|lower(?:s|ed|ing)?|decreas(?:e[sd]?|ing)|drop(?:s|ped|ping)?|shrink(?:s|ing)?"
        r"|shrank|shrunk|sav(?:e[sd]?|ing)|trim(?:s|med|ming)?|fell|fall(?:s|en|ing)?|shav(?:e[sd]?|ing)|eliminat(?:e[sd]?|ing)"
        r"|slash(?:es|ed|ing)?|lose[sd]?|losing|lost|divid(?:e[sd]?|ing)|baja|reduce|senkt|sinkt|réduit|baisse|down(?! from)"
    ),
    Sense.RISE: (
        r"increas(?:e[sd]?|ing)|ris(?:es?|en|ing)|lift(?:s|ed|ing)?|push(?:es|ed|ing)?"
        rf"|add(?:s|ed|ing)?(?=\s+(?:(?:an?|another|{HEDGES}) )?[~≈*]*$)"
        r"|rais(?:e[sd]?|ing)|grow(?:s|n)?|grew|rose"
        r"|(?<!speed[- ])(?<!speeds )(?<!speeding )(?<!sped )"
        r"(?<!take )(?<!takes )(?<!taking )(?<!took )(?<!use )(?<!uses )(?<!using )(?<!by )up\b(?! to| from)"
    ),
}
"""Verbs whose object changed by a percentage or a factor."""

METRICS: dict[ClaimMetric, str] = {
    ClaimMetric.THROUGHPUT: (
        r"throughput|吞吐(?:量|率)?|スループット|req(?:uest)?s?/s|requests per sec|tokens per sec|tok/s|t/s\b|tokens?/s"
        r"|fps\b|frame ?rate|ops/s"
        r"|operations per sec|(?<!egress )bandwidth(?! (?:usage|use|consumption|cost|bill))|[km]?nps\b|[qrt]ps(?![a-z])|iops\b"
        r"|goodput|it(?:erations)?/s|steps/s|speeds?/s|gflops|tflops|samples/s"
        r"|(?!(?:m|km|px)/)[a-z]{1,12}/s(?:ec)?\b|/sec\b|per second|/s\b|/min\b|steps in"
    ),
    ClaimMetric.MEMORY: (
        r"memory|max_mem|peak_mem|rss\b|heap|v?ram\b|arena|footprint|内存|メモリ|메모리|memoria|mémoire|speicher"
        r"|resident|working set|gc pressure"
        r"|b/op|alloc/op|bytes/op|bytes allocated|allocated bytes|churn|(?:old|new|before|after) bytes\b"
    ),
    ClaimMetric.SIZE: (
        r"sizes?\b|体积|大小|传输|流量|サイズ|容量|chunks?\b|vendor|js\b|css\b|bundle|binar(?:y|ies)\b|disk|payloads?|packages?\b|artifacts?|images?\b"
        r"|apks?\b|storage|repositor\w+|compress\w*|download(?!s)|archive|on-disk|responses?\b|files?\b|logs?\b|index\b|wheel"
        r"|flash(?!\s?-?(?:att|decod|mess|infer|mla|card|sale|light|back|crowd|fill))(?![a-z])|firmware|elf\b|(?<!network )traffic\b"
        r"|egress|ingress|(?:network |egress )?bandwidth (?:usage|use|consumption)|(?:wal|data|network) (?:volume|traffic|transfer)"
        r"|binary_size|bundle_size|dumps?\b"
        r"|catalog|gzip\w*|zst\w*|serializ\w+"
    ),
    ClaimMetric.COST: r"costs?\b|cheaper|price|spend(?:ing)?\b|bills?\b|billing|invoice|dollars?|\$",
    ClaimMetric.TOKENS: r"context(?= (?:usage|use|size|reduction|consumption|used|overhead|footprint)\b)|tokens?\b|tok\b|prompts?\b",
    ClaimMetric.OPERATIONS: (
        r"(?:event|draw|draw call|call|query|request|allocation|instruction|render|syscall|node|kernel) counts?\b|gen ?\d collections"
        r"|(?:re)?alloc(?:ation)?s?(?:/op)?\b|quer(?:y|ies)\b|calls?\b|requests?\b|syscalls?|cop(?:y|ies)\b|launch(?:es)?|round[- ]?trips?"
        r"|lookups?|syncs?\b|passes\b|re-?renders?|buffers\b|dispatch(?:es)?|encodes|instructions?(?: retired)?|cache misses|forks\b"
        r"|spawns\b"
        r"|db load|rows (?:read|examined|scanned|fetched|returned)|(?:gc|garbage) (?:runs|collections?|cycles)|cpb\b|reads\b|writes\b"
        r"|fetch(?:es)?|invocations?|transactions?|comparisons|operations?\b|computations?|compute\b"
        r"|(?:re)?creations\b|instantiations\b|evaluations|locks?\b|(?:forced )?reflows?\b|dom nodes\b"
        r"|(?:mounted|rendered) (?:rows|components|nodes)|event listeners\b|barriers|subprocess\w*|hits\b|ops\b|scans\b|kernels\b"
        r"|stats?\(\)|(?:sql |db |database )?statements\b|rebuilds\b|repaints?\b|state changes\b|(?:re-?)?calculations\b|clones\b|thrash\w*"
        r"|查询|请求|调用|次数|渲染|クエリ|呼び出し|リクエスト"
    ),
    ClaimMetric.TIME: (
        r"faster|quicker|slower|speed\w*|latenc(?:y|ies)|run ?times?|durations?|start-?ups?|times?\b|timings?"
        r"|wall(?: ms\b|[- ]?(?:clock|time)|(?= (?:on|for|per)\b))|blocking\b|jank\b"
        r"|elapsed|(?:ns|µs|us|ms|sec|s|time)/op|ttft|tpot|delay|performance|perf\b|cold[- ]?starts?|pauses?\b|(?<!_)builds?\b"
        r"|cpu(?: (?:usage|time|load|cycles))?\b|ttfb|[flt]cp\b|tti\b|tbt\b|inp\b|execution|milliseconds|seconds|minutes\b"
        r"|(?<!gc )(?<!collection )(?<!duty )cycles?\b|took|takes"
        r"|runs in"
        r"|overhead|p50|p9[059]|acceler\w+|slow\w*|fast\b|wait\w*|tiempo|latencia|temps|zeit\b|延迟|耗时|时间|时长|性能|速度|启动|响应|加载|处理时长"
        r"|レイテンシ|時間|시간|속도|速度|高速化|パフォーマンス|起動|遅延"
    ),
}
"""What the words around a number say that it measures. A multiplier of "faster" needs none of them."""

OTHER_SPEEDS = re.compile(
    r"[\s*_]*(?:\w+ )?(?:(?:win|pass|hit|success)[ -]?rates?|playback|develop\w*|onboarding|iteration|deliver\w*"
    r"|than (?:real[- ]time|normal|estimated|expected|planned|usual))\b",
    re.IGNORECASE,
)
"""Of what people and films are said to be faster, or to take longer."""

GAMES = (
    r"(?:movement|move|attack|walk(?:ing)?|running|reload(?:ing)?|cast(?:ing)?|respawn|fire|firing|projectile|player|enemy|bullet|ball"
    r"|character|vehicle|mining|growth|falling|swim) (?:speed|time|rate|velocity)s?\b"
    r"|projectiles?\b|bullets?\b|enem(?:y|ies)\b|towers?\b|weapons?\b|damage\b|gravity\b"
)
"""What is fast, slow or strong in a game."""

SETTINGS = words(
    GAMES,
    r"(?:[a-z]{1,20}(?=timeouts?\b))?time-?outs?|intervals?|ttls?\b|limit(?:s|ed)?\b|thresholds?|retr(?:y|ies)\b|back-?off"
    r"|poll(?:s|ing)?\b|sleeps?\b"
    r"|debounc\w+|throttl(?:e|ing)\b|cool-?down|quota|rotated? at\b"
    r"|(?:log|key|secret|file|size|backup|token|cert\w*|daily)[- ]?(?:based )?rotation\b|xm[xs]\b"
    r"|increased? (?:\w+ ){0,2}(?:heap|stack|buffer|cache)\b|retention|backups?\b|lifecycle"
    r"|hz\b(?! (?:display|screen|monitor|panel))|offsets?\b|drift|skew"
    r"|alignments?\b|deadline|grace|expir\w+|keep-?alive(?:_| (?:timeout|interval|time|duration))|leases?\b|rate-?limit\w*"
    r"|(?<!start-up )(?<!startup )(?<!input )(?<!initial )(?<!launch )(?<!typing )"
    r"(?<!render )(?<!load )(?<!response )(?<!queue )(?<!import )delays?\b"
    r"|(?<!m\d )max[_ ](?!\d|(?:[\w-]+ ){0,2}(?:rss|resident|memory(?:_\w+)?|latency|heap|time|rtt|pause|stall|gap|abs|rel|diff"
    r"|error)\b)\w+"
    r"|min_\w+|bump(?:s|ed|ing)\b|bump (?=[\w`])(?!alloc|heap|arena|pointer)|(?<!lock )(?<!queue )(?<!i/o )(?<!io )(?<!average )"
    r"(?<!median )waits?\b(?! times?\b)|\w+wait\b"
    r"|multiplier"
    r"|stability|(?:maximum|minimum)(?! (?:\w+ ){0,3}(?:throughput|latency|memory|time|rss\b|heap (?:fell|dropped|shrank|went)))"
    r"|requirements?"
    r"|upload limit|animations?\b|transitions?\b|fade\b|easing|golden|sample (?:corpus|data)|test data|prices?\b"
    r"|context (?:windows?|lengths?|size)|context\s+from\b|bit-?rates?\b|time controls?|[hv]blank|nmi\b|scanlines?"
    r"|max(?:imum)? (?:value|tokens?)|token (?:limit|budget)s?"
    r"|超时|连接池|池大小|线程数|缓冲区大小|批次?大小|上限|间隔|阈值|并发数"
    r"|heart-?beats?\b|(?:bus|clock|baud|spi|i2c|uart) (?:speed|rate|frequency)|baud|raster\w*|ntsc\b|buffers?\s+from\b"
    r"|cron\b|look-?back|(?:time|sampl(?:e|ing)|rolling|sliding) windows?\b"
    r"|pro plan|per seat|subscriptions?|discounts?|fees?\b|buffer size|chunk size"
    r"|batch size|pool size|padding|margins?\b|playback|zoom|default timeout|defaults? +(?=from|\d)|default_\w+"
    r"|mem-?limit\w*|seek\b|long-press|stagger|jitter|errors? (?=drop|fell|falls|from|goes|went)|distances?\b|radius|altitude"
    r"|declared|considered"
    r"|life-?times?|pacing|spawn rate|respawn\w*|enem(?:y|ies)\b|cadence|trial\b|snooze|refresh (?:token|every|rate)"
    r"|(?:compression|log|zoom) levels?|period(?:[_ ]?seconds)?\b(?! of)"
    r"|(?:video|clip|audio|track|recording|movie|episode)s? (?:length|duration)s?\b"
    r"|(?:speech|speaking|voice|walk\w*|movement|move|scroll|typing|rotation|turn\w*|player|game) (?:speed|rate)\b",
)
"""Words beside a pair of figures that make it one of settings, or of correctness, and not of performance."""

NOT_PERFORMANCE = (
    r"tickets?\b|session (?:duration|length)s?\b|engagement|conversion|bounce rate|"
    rf"{GAMES}|"
    r"timeouts?|time-?outs?|intervals?|ttls?\b|limits?\b|thresholds?|retr(?:y|ies)\b|back-?off|goroutines?|workers?\b"
    r"|threads?\b|replicas?|concurrency|shards?\b|playback|zoom|resolution|viewport|padding|margins?\b|font|opacity|volume"
    r"|version|coverage|pass rate|accurac\w+|scores?\b|elo\b|win[- ]?rates?|bpb\b|loss\b|perplexity|recall|precision|f1\b"
    r"|confidence|lines?\b|loc\b|code\b|boilerplate|tests\b|assertions?|insertions|deletions|instances|warnings?|errors?\b"
    r"|bugs?\b|issues\b|duplicat\w+|complexity|capacity|parallelism|similarity|quality|success|failures?|flak\w+|complian\w+"
    r"|stars\b|commits?\b|information|density|productivity|developers?\b|batch_\w+|iterations?\b"
    r"|(?:cell|font|step|batch|chunk|buffer|pool|page|grid|icon|text|sample|tile|block|window|vocab|hidden|head"
    r"|cache|table|queue|stack|key)[ _-]?sizes?\b"
    r"|gap\b|varianc\w+|deviation|amplitude|dimensions?\b|param(?:eter)?s\b|learning rate|momentum|epochs?\b|vocab\w*"
    r"|(?:development|onboarding|review|debugging|maintenance|integration|ramp-up) (?:times?|speed|velocity|effort|cycles?)\b"
    r"|lighthouse|pagespeed|modules?\b|functions?\b|endpoints?\b|features?\b|development|onboarding|chance|probability|risk|hit[- ]?rates?"
    r"|成功率|错误率|命中率|准确率|覆盖率|通过率|可用性|评分|质量|代码|行数|风险|安全|兼容|并发|连接池|进度|测试|完成|线程|连接数|配置|超时|正解率|成功率|エラー率"
    r"|context (?:windows?|lengths?|limits?|size)"
)
"""Nouns beside a number that make it no claim on performance: settings, quality, amounts of code."""

BEFORE = (
    r"before|old|original(?:ly)?|baseline|previous(?:ly)?|base|master|prior|was|unoptimi[sz]ed|without|current|legacy"
    r"|main(?!\s(?:bundle|chunk|thread|loop|page|entry|process|menu|js\b|css\b|module|file|app\b|package))|develop\b|trunk|head[~^]\d?"
    r"|naive|initial(?:ly)?|earlier|former(?:ly)?|from|pre|upstream|stock|vanilla|unpatched|uncached|sequential(?:ly)?|serial|unbatched"
    r"|parent|avant|vorher|antes|prima"
    r"|w/o"
    r"|[一-鿿]{1,6}(?<=前)(?<!当前)(?<!目前)(?!端|缀)|原始|原来|原先|旧[一-鿿]{0,3}|基线|現状|従来"
)
AFTER = (
    r"after(?!\s+\d)|new|now|optimi[sz]ed|patched|improved|with|this (?:pr|change|branch|commit|patch)|dev(?=[*_`]*(?:[:(]|$)|\s\d)|#\d{2,}"
    r"|branch(?!\s[`*_]*(?:main|master|develop|trunk)\b)|final|current|cached|post|updated"
    r"|actual|result|candidate|pr\b|fix(?:ed)?\b|head|parallel|concurrent|batched|fast path|this\b|proposed|to(?=:)"
    r"|après|nachher|después|depois|dopo"
    r"|[一-鿿]{1,6}(?<=后|後)(?!端|台|续)|候选|现在|最终[一-鿿]{0,3}|新[一-鿿]{0,3}"
)
CHANGE = (
    r"speed[- ]?up|boost|improvement|change|delta|Δ|diff(?:erence)?|gain|reduction|ratio|savings?|saved|faster|%|percent|impact|winner"
    r"|advantage|(?<!waste )factor"
    r"|slowdown|vs\.?\b.*|performance|[一-鿿]{1,5}(?<=提升|改善|改进|减少|降低|下降|变化|加速|优化|节省|削減|短縮|向上|比率|比值|倍率)[一-鿿]{0,2}"
)
"""Labels of lines and heads of columns: the figure before, the figure after, and the change."""

RECIPROCAL_HEADS = re.compile(r"\bvs\.? (?:native|c\b)|overhead|slowdown|slower", re.IGNORECASE)
"""Heads of columns whose multiplier says how much more is needed."""

GAINS = r"speed[- ]?up|boost|improvement|faster|gain|savings?|提升|改善|改进"
"""Heads of columns in which a plus means better, whatever became of the figures."""

FALLS = r"reduction|savings?\b|saved|less\b|减少|降低|下降|节省|削減|短縮"
"""Heads of columns whose percentages say how much less there is."""
