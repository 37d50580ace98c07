-- Where the numbering of documents starts in each portion of a chosen reading.
create or replace temp table portions as
select
    cards.reading, cards.portion,
    coalesce(sum(cards.documents) over (
        partition by cards.reading order by cards.portion rows between unbounded preceding and 1 preceding
    ), 0) as first_ordinal
from cards
join chosen using (reading);
