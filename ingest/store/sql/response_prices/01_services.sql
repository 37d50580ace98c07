-- The models of the responses of the runs in `touched`, and how requests to them were served: one price each.
create or replace temp table services as
select row_number() over () as service_no, *
from (
    select distinct model_id, model, provider, region, speed, service_tier, inference_geo
    from responses
    semi join touched using (run_id)
);
