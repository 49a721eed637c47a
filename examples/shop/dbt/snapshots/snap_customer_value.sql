{% snapshot snap_customer_value %}
{{ config(target_schema='snapshots', unique_key='customer_id', strategy='check', check_cols=['value']) }}
select customer_id, value from {{ ref('customer_value') }}
{% endsnapshot %}
