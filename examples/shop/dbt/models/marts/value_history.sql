{{ config(materialized='view') }}
select customer_id, value, dbt_valid_from as valid_from, dbt_valid_to as valid_to
from {{ ref('snap_customer_value') }}
