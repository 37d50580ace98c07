"""The words that claims are made of, by what they mean. Data only: what is done with them stands in the other modules.

Each entry is a piece of a regular expression, matched without regard to case at the start of a word. Lists are closed on
purpose: a word that is not here makes no claim.
"""

from __future__ import annotations

import re
from enum import Enum

from schemas.claim import ClaimMetric, Scope


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
        r"|advantage|more efficient|高速|快|短い|schneller|plus rapides?|m[áa][si] r[áa]pid[oa]s?|so schnell|as fast\b|as quick"
    ),
    Sense.LOSS: (
        r"as slow\b|as long\b|slower|worst\b(?!-|\s(?:case|frames?|of))"
        r"|loss\b|hit\b(?!s|[ -]?(?:rate|ratio))|penalty\b"
        r"|langsamer|plus lent\w*|m[áa][si] lent\w*|slow-?downs?|regressions?|worse|overhead"
    ),
    Sense.FALL: (
        r"less\b|lower\b|fewer|smaller|shorter|reductions?|reduced|decrease\b|decreased|drop\b|compression|weniger|kleiner|menos"
        r"|moins|savings?|saved|cut\b|leaner|lighter|cheaper|shrink|removal\b"
    ),
    Sense.RISE: r"more\b|higher|larger|bigger|increase\b|increased|longer|growth|greater|additional|rise\b|uplift\b|jump\b",
}
"""Words behind (or before) a multiplier or percentage."""

VERBS: dict[Sense, str] = {
    Sense.GAIN: (
        r"improv(?:e[sd]?|ing)|speed-?ups?(?= [a-z])|speed(?:s|ing)?(?: \w+)? up|sped up|accelerat(?:e[sd]?|ing)|boost(?:s|ed|ing)?"
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
        r"|operations per sec|(?<!egress )bandwidth(?! (?:usage|use|consumption|cost|bill))|[km]?nps\b|qps\b|rps\b|tps\b|iops\b|goodput|it(?:erations)?/s|steps/s|speeds?/s|gflops|tflops|samples/s"
        r"|(?!(?:m|km|px)/)[a-z]{1,12}/s(?:ec)?\b|/sec\b|per second|/s\b|/min\b|steps in"
    ),
    ClaimMetric.MEMORY: (
        r"memory|rss\b|heap|v?ram\b|arena|footprint|内存|メモリ|메모리|memoria|mémoire|speicher|resident|working set|gc pressure"
        r"|b/op|alloc/op|bytes/op|bytes allocated|allocated bytes|churn|(?:old|new|before|after) bytes\b"
    ),
    ClaimMetric.SIZE: (
        r"sizes?\b|体积|大小|传输|流量|サイズ|容量|chunks?\b|vendor|js\b|css\b|bundle|binar(?:y|ies)\b|disk|payloads?|packages?\b|artifacts?|images?\b"
        r"|apks?\b|storage|repositor\w+|compress\w*|download(?!s)|archive|on-disk|responses?\b|files?\b|logs?\b|index\b|wheel"
        r"|egress|ingress|(?:network |egress )?bandwidth (?:usage|use|consumption)|(?:wal|data|network) (?:volume|traffic)|dumps?\b|catalog|gzip\w*|zst\w*|serializ\w+"
    ),
    ClaimMetric.COST: r"costs?\b|cheaper|price|spend(?:ing)?\b|bills?\b|billing|invoice|dollars?|\$",
    ClaimMetric.TOKENS: r"context(?= (?:usage|use|reduction|consumption|used|overhead|footprint)\b)|tokens?\b|tok\b|prompts?\b",
    ClaimMetric.OPERATIONS: (
        r"(?:event|draw|draw call|call|query|request|allocation|instruction|render|syscall) counts?\b|gen ?\d collections|(?:re)?alloc(?:ation)?s?\b|quer(?:y|ies)\b|calls?\b|requests?\b|syscalls?|cop(?:y|ies)\b|launch(?:es)?|round[- ]?trips?"
        r"|lookups?|syncs?\b|passes\b|re-?renders?|buffers\b|dispatch(?:es)?|encodes|instructions?|cache misses|forks\b|spawns\b"
        r"|db load|rows (?:read|examined|scanned|fetched|returned)|(?:gc|garbage) (?:runs|collections?|cycles)|cpb\b|reads\b|writes\b|fetch(?:es)?|invocations?|transactions?|comparisons|operations?\b|computations?|compute\b"
        r"|(?:re)?creations\b|instantiations\b|evaluations|locks?\b|barriers|subprocess\w*|hits\b|ops\b|scans\b|kernels\b|stats?\(\)|查询|请求|调用|次数|渲染|クエリ|呼び出し|リクエスト"
    ),
    ClaimMetric.TIME: (
        r"faster|quicker|slower|speed\w*|latenc(?:y|ies)|run ?times?|durations?|start-?ups?|times?\b|timings?|wall[- ]?(?:clock|time)"
        r"|elapsed|(?:ns|µs|us|ms|sec|s|time)/op|ttft|tpot|delay|performance|perf\b|cold[- ]?starts?|(?<!_)builds?\b"
        r"|cpu(?: (?:usage|time|load|cycles))?\b|ttfb|[flt]cp\b|tti\b|tbt\b|inp\b|execution|milliseconds|seconds|minutes\b|took|takes|runs in"
        r"|overhead|p50|p9[059]|acceler\w+|slow\w*|fast\b|wait\w*|tiempo|latencia|temps|zeit\b|延迟|耗时|时间|时长|性能|速度|启动|响应|加载|处理时长"
        r"|レイテンシ|時間|시간|속도|速度|高速化|パフォーマンス|起動|遅延"
    ),
}
"""What the words around a number say that it measures. A multiplier of "faster" needs none of them."""

OTHER_SPEEDS = re.compile(
    r"[\s*_]*(?:\w+ )?(?:playback|develop\w*|onboarding|iteration|deliver\w*"
    r"|than (?:real[- ]time|normal|estimated|expected|planned|usual))\b",
    re.IGNORECASE,
)
"""Of what people and films are said to be faster, or to take longer."""

SETTINGS = words(
    r"(?:[a-z]{1,20}(?=timeouts?\b))?time-?outs?|intervals?|ttls?\b|limit(?:s|ed)?\b|thresholds?|retr(?:y|ies)\b|back-?off|poll(?:s|ing)?\b|sleeps?\b"
    r"|debounc\w+|throttl(?:e|ing)\b|cool-?down|quota|rotated? at\b"
    r"|(?:log|key|secret|file|size|backup|token|cert\w*|daily)[- ]?(?:based )?rotation\b|xm[xs]\b"
    r"|increased? (?:\w+ ){0,2}(?:heap|stack|buffer|cache)\b|retention|backups?\b|lifecycle|hz\b|offsets?\b|drift|skew"
    r"|deadline|grace|expir\w+|keep-?alive(?:_| (?:timeout|interval|time|duration))|lease|rate-?limit\w*"
    r"|(?<!start-up )(?<!startup )(?<!input )(?<!initial )(?<!launch )(?<!typing )(?<!render )(?<!load )(?<!response )(?<!queue )(?<!import )delays?\b"
    r"|(?<!m\d )max[_ ](?!\d|(?:[\w-]+ ){0,2}(?:rss|resident|memory|latency|heap|time|rtt|pause|stall|gap|abs|rel|diff|error)\b)\w+"
    r"|min_\w+|bump(?:s|ed|ing)?\b|(?<!lock )(?<!queue )(?<!i/o )(?<!io )(?<!average )(?<!median )waits?\b(?! times?\b)|\w+wait\b|multiplier"
    r"|stability|(?:maximum|minimum)(?! (?:\w+ ){0,3}(?:throughput|latency|memory|time|rss\b|heap (?:fell|dropped|shrank|went)))"
    r"|requirements?"
    r"|upload limit|animations?\b|transitions?\b|fade\b|easing|golden|sample (?:corpus|data)|test data|prices?\b"
    r"|context (?:windows?|lengths?|size)|context\s+from\b|bit-?rates?\b|time controls?|[hv]blank|nmi\b|scanlines?|max(?:imum)? (?:value|tokens?)|token (?:limit|budget)s?"
    r"|超时|连接池|池大小|线程数|缓冲区大小|批次?大小|上限|间隔|阈值|并发数"
    r"|cron\b|look-?back|(?:time|sampl(?:e|ing)|rolling|sliding) windows?\b"
    r"|pro plan|per seat|subscriptions?|discounts?|fees?\b|buffer size|chunk size"
    r"|batch size|pool size|padding|margins?\b|playback|zoom|default timeout|defaults? +(?=from|\d)|default_\w+"
    r"|mem-?limit\w*|seek\b|long-press|stagger|jitter|errors? (?=drop|fell|falls|from|goes|went)|distances?\b|radius|altitude"
    r"|declared|considered"
    r"|life-?times?|pacing|spawn rate|respawn\w*|enem(?:y|ies)\b|cadence|trial\b|snooze|refresh (?:token|every|rate)"
    r"|(?:compression|log|zoom) levels?|period(?:[_ ]?seconds)?\b(?! of)"
    r"|(?:video|clip|audio|track|recording|movie|episode)s? (?:length|duration)s?\b"
    r"|(?:speech|speaking|voice|walk\w*|movement|move|scroll|typing|rotation|turn\w*|player|game) (?:speed|rate)\b"
)
"""Words beside a pair of figures that make it one of settings, or of correctness, and not of performance."""

NOT_PERFORMANCE = (
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

ESTIMATES = words(
    r"expect(?:ed|s)?\b|should\b|would\b|could\b|theoretical\w*|projected|projection (?:of|is|says)|target(?:s|ing|ed)?\b"
    r"|potential(?:ly)?|estimat\w+|planned|goal|aim(?:s|ing)?\b|may\b(?! ?[\d,])|might\b|anticipat\w+|likely|predicted|prediction"
    r"|will\b|possible"
)
"""Words that make a claim one about what is not yet seen."""

MEASURED = words(
    r"(?:micro-?)?benchmark(?:s|ed|ing)?\b|bench(?:es|marks?)?\b|measured|measurements?|measuring|profil(?:ed|er|ing)\b|profiles? (?:shows?|says|of)\b|(?:cpu|heap|memory|flame|query) profiles?\b"
    r"|criterion|median|mean of|best of|averaged\b|average (?:of|over)\b|wall[- ](?:clock|time)|timed\b|timings\b|stopwatch|interleaved|n ?= ?\d+"
    r"|\d+ (?:runs|samples|iterations|repetitions|repeats|rounds|seeds|boots|requests|trials|reps)\b"
    r"|noise floor|sigma\b|(?:three|five|ten) runs"
    r"|ns/op|allocs/op|(?:load|stress|soak|smoke|perf|contention) test\w*|tested\b|validated|locally|local test"
    r"|on my \w+|on (?:this|the) (?:machine|laptop|box|runner|ci runner)|on an? (?:copy|clone|replay|throttled)"
    r"|\d+ passed\b|cpu \d[\d.:]* total|real\s+\d+m"
    r"|perft\b|test runs?\b|testing against|reproducible|ctc\b|(?:same|similar) scene\b"
    r"|in ci\b|snapshot\b|pytest\b|go test\b|replay\w*|synthetic|simulated|gemessen|mesur[ée]\w*|medid[oa]"
)
"""Words that say how numbers came about."""

TOOLS = words(
    r"hyperfine|wrk\b|pgbench|timeit|nsight|lighthouse|strace|ltrace|perf stat|perf record|explain \(?analyze|heaptrack|valgrind"
    r"|callgrind|massif|sysbench|fio\b|asv\b|k6\b|vegeta|apachebench|`?ab -|hey run|`?hey -|iperf\w*|`?time -v|`?dd (?:if|over)"
    r"|benchstat|pyperf|py-spy|jmh\b|source-map-explorer|bundle-?analyzer|max_memory_allocated|rocprof|nvprof|mprof|memray"
    r"|tracemalloc|pprof|flamegraph|tpc-?\w+|sysstat|vmstat"
)
"""Tools that measure."""

MACHINES = words(
    r"macbook|rtx\b|gtx\b|h100|a100|l4\b|t4\b|v100|(?:apple |on (?:an? )?)m[1-5]\b|m[1-5] (?:pro|max|ultra|mac|air)"
    r"|apple silicon|xeon|epyc|ryzen|threadripper|i[3579]-\d{4}|raspberry|rpi \d|jetson|steam deck|pixel \d|iphone \d|moto g"
    r"|haswell|skylake|tiger ?lake|ice ?lake|alder ?lake|sapphire rapids|zen ?[2-5]\b|graviton|neoverse|cortex-"
    r"|(?:dev|development|work|test) machine|nvme|sata|\d+[- ]cores?\b|[a-z]\d[a-z]?\.\d*x?large"
)
"""Machines that numbers were seen on."""

_COUNTED = (
    r"(?:files|sessions|rows|records|texts|messages|issues|projects|tasks|documents|items|entries|nodes|objects|users|rounds|seeds|steps"
    r"|tokens|levels|observations|events|lines|images|invoices|photos|prompts|vaults?|packages)\b"
)
INPUTS = (
    rf"\b\d[\d,.]*\s?[km]?\+?\s(?:\w+\s)?{_COUNTED}"
    r"|\b\d{2,5}x\d{2,5}\b"
    r"|\b\d+(?:\.\d+)?\s?[kmgt]i?b (?:index|database|db|file|payload|dataset|corpus|archive|observation|repo|chat|log|download)"
    r"|\b\d[\d,.]*[km]?-(?:hour|minute|page|project|session|file|row|line|record|node|observation|token|entry|item|element)\b"
    r"|\bper \d+ ?[kmg]i?b\b|\bat (?:c|concurrency|batch(?: size)?|bs)[ =]\d+"
)
"""Inputs that are named with their size, beside the numbers that were seen on them."""

SCOPES: dict[Scope, str] = {
    Scope.MICRO: words(
        r"micro-?benchmarks?|functions?\b|methods?\b|kernels?\b|operators?\b|loops?\b|per call|ns/op|allocs?/op|b/op"
        r"|dot[- ]product|gemm|matmul\w*|softmax|detection|reads\b|inner|helper|hash ?map|vec\b|deque|bfs|sort(?:ing)?\b"
        r"|lookups?\b|primitive|selector|scans?\b|per parse|cosine|table updates|binary search|flood fill|sieve|increments?\b"
        r"|lock-free|atomics?\b|memcpy|regex\w*|prefilter|simd|avx\w*|/op\b|bisect|histogram|stencils?|hashing|comparisons"
        r"|ecdsa|sha-\d+|scheduler pick|函数|関数"
    ),
    Scope.COMPONENT: words(
        r"quer(?:y|ies)\b|layers?\b|modules?\b|stages?\b|phases?\b|decod\w+|encod\w+|pars(?:er?|ing)\b|import\w*|loading"
        r"|embedd\w+|index\w*|rules?\b|denois\w+|buffer|render\w*|inserts?|batch\w*|serializ\w+|compress\w*|attention"
        r"|vae\b|tokeniz\w+|subsystem|handlers?|database|db\b|api calls|transactions?|logs?\b|sheet|verification|lint\w*|prefill"
        r"|graph|memory per|search(?:es)?\b|initiali[sz]ation|file reading|prompt|actions?\b|step \d|per step|linking|backfill"
        r"|join\b|calls\b|context\b|\bstep\b|passes\b|history|atlas|textures?\b|importer|consumer|producer|sink\b|listener|workers?\b"
        r"|ingest\w*|gc pauses?|lexer|emitter|planner|codec|thumbnail\w*|migrations?\b|wal\b|handshake|hydration|simplification"
        r"|查询|数据库|缓存|模块|解析|クエリ|キャッシュ"
        r"|upload\w*|package import|translation|enrichment|first-chunk|code size|undo"
    ),
    Scope.END_TO_END: words(
        r"total|builds?\b|start-?ups?\b|pages?\b|requests?\b|commands?\b|test suites?|suites?\b|tests?\b|ci\b|pipelines?\b"
        r"|training|generation|end-to-end|e2e|overall|inference|servers?\b|responses?\b|cold[- ](?:starts?|open)"
        r"|wall[- ](?:clock|time)|run ?time|full|cli\b|app\b|throughput|install\w*|deploy\w*|regression|installation|bundle|peak"
        r"|apks?\b|/step|step time|type[- ]?check\w*|datasets?|cpu time|eval\b|sync time|latency|script|files with|reload|fps\b"
        r"|html|archives?\b|shutdown|tests? execution|packages?\b|pkg\b|serial|blocking|loads?\b|save file|opening|solve time"
        r"|tok/s|language server|workspace|per (?:review|document|page)|bills?\b|freeze\w*|initial js|vendor chunk|route changes"
        r"|first byte|vram|checkout|listing page|响应|延迟|吞吐|页面|启动|构建|起動|ビルド|レスポンス"
    ),
}
"""How much of the software the words around a number cover."""

WHOLE = words(
    r"p50|p9[059]|total\b|rss\b|lcp\b|boots?\b|ttft|tpot|epochs?\b|ticks\b|login|overall|end-to-end|e2e\b|wall[- ](?:clock|time)"
    r"|test suite|full suite|cold[- ](?:start|open)|start-?up time|build time|page load|cpu time|/step\b|ms/step|runtime\b"
    r"|peak|cli\b|startup|test execution|step time|\| (?:mean|avg|average|median)\b"
)
"""Words that speak of the whole even where a part is named beside them."""

CITED = words(
    r"according to (?:the|its|their|upstream|vendor)|advertis\w+|vendor(?:'s)? (?:says|claims|numbers|docs|pricing)|official(?:ly)?|published|papers?\b"
    r"|claims? (?:to|that)|docs (?:say|promise)|documented as|upstream\b|per the (?:docs|readme)|reported by|reports?\b"
    r"|known to be|release notes|changelog|authors\b|blog post|readme (?:says|claims|promises)"
    r"|their (?:benchmarks?|numbers|docs)"
)
"""Words by which somebody else's number is quoted."""

SWITCH = words(r"switch(?:e[sd]|ing)?|migrat\w+|mov(?:e[sd]?|ing)|upgrad\w+|adopt\w*|replac(?:e[sd]?|ing) \S+ with|us(?:e|es|ing)")
"""Words for taking up somebody else's work."""

BEFORE = (
    r"before|old|original(?:ly)?|baseline|previous(?:ly)?|base|main(?!\s(?:bundle|chunk|thread|loop|page|entry|process|menu|js\b|css\b|module|file|app\b|package))|master|prior|was|unoptimi[sz]ed|without|current|legacy"
    r"|naive|develop\b|trunk|head[~^]\d?|initial(?:ly)?|earlier|former(?:ly)?|from|pre|upstream|stock|vanilla|unpatched|uncached|sequential(?:ly)?|serial|unbatched|parent|avant|vorher|antes|prima"
    r"|[一-鿿]{1,6}(?<=前)(?<!当前)(?<!目前)(?!端|缀)|原始|原来|原先|旧[一-鿿]{0,3}|基线|現状|従来"
)
AFTER = (
    r"after|new|now|optimi[sz]ed|patched|improved|with|this (?:pr|change|branch|commit|patch)|dev(?=[*_`]*(?:[:(]|$))|#\d{2,}|branch(?!\s[`*_]*(?:main|master|develop|trunk)\b)|final|current|cached|post|updated"
    r"|actual|result|candidate|pr\b|fix(?:ed)?\b|head|parallel|concurrent|batched|fast path|this\b|proposed|to(?=:)|après|nachher|después|depois|dopo"
    r"|[一-鿿]{1,6}(?<=后|後)(?!端|台|续)|候选|现在|最终[一-鿿]{0,3}|新[一-鿿]{0,3}"
)
CHANGE = (
    r"speed[- ]?up|boost|improvement|change|delta|Δ|diff(?:erence)?|gain|reduction|ratio|savings?|saved|faster|%|percent|impact|winner"
    r"|advantage|factor|slowdown|vs\.?\b.*|performance|[一-鿿]{1,5}(?<=提升|改善|改进|减少|降低|下降|变化|加速|优化|节省|削減|短縮|向上|比率|比值|倍率)[一-鿿]{0,2}"
)
"""Labels of lines and heads of columns: the figure before, the figure after, and the change."""

RECIPROCAL_HEADS = re.compile(r"\bvs\.? (?:native|c\b)|overhead|slowdown|slower", re.IGNORECASE)
"""Heads of columns whose multiplier says how much more is needed."""

GAINS = r"speed[- ]?up|boost|improvement|faster|gain|savings?|提升|改善|改进"
"""Heads of columns in which a plus means better, whatever became of the figures."""

FALLS = r"reduction|savings?\b|saved|less\b|减少|降低|下降|节省|削減|短縮"
"""Heads of columns whose percentages say how much less there is."""
