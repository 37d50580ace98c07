-- ISO-Bench's quadrants: which one a run is in by what was measured against the reference (`hard`) and by what it worked on (`target`).
create or replace view v_quadrants as
select
    hard, target,
    case
        when hard in ('beats', 'similar') then case when is_bottleneck then 'Q1' else 'Q3' end
        else case when is_bottleneck then 'Q2' else 'Q4' end
    end as quadrant
from (values ('beats'), ('similar'), ('worse')) as judgements(hard)
cross join (values ('same_target', true), ('related_target', true), ('different_target', false)) as targets(target, is_bottleneck);
