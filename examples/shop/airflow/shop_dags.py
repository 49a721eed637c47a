"""The shop's schedules: one DAG runs dbt every night, one fills the hourly clicks, one sends orders to a partner."""
import datetime

from airflow.sdk import DAG, Asset
from airflow.providers.standard.operators.bash import BashOperator
from airflow.timetables.interval import CronDataIntervalTimetable

START = datetime.datetime(2025, 12, 1, tzinfo=datetime.timezone.utc)
fct_orders = Asset("duckdb://shop/shop/main/fct_orders")

with DAG("shop_nightly", schedule=CronDataIntervalTimetable("0 6 * * *", timezone="America/New_York"), start_date=START, catchup=False,
         default_args={"owner": "analytics"}) as nightly:
    load = BashOperator(task_id="load_events", bash_command="load-events {{ ds }}", pool="wh", outlets=[Asset("duckdb://shop/shop/raw/order_events")])
    build = BashOperator(task_id="dbt_build", bash_command="dbt build --select +revenue_monthly", pool="wh", pool_slots=3,
                         inlets=[Asset("duckdb://shop/shop/main/stg_orders")], outlets=[fct_orders])
    load >> build

with DAG("shop_partner", schedule=[fct_orders], start_date=START, catchup=False, default_args={"owner": "partner-feeds"}) as partner:
    BashOperator(task_id="send_orders", bash_command="send-orders s3://partner-drop/orders/{{ ds }}.csv", pool="exports",
                 inlets=[fct_orders])

with DAG("shop_clicks", schedule=CronDataIntervalTimetable("5 * * * *", timezone="UTC"), start_date=START, catchup=False,
         default_args={"owner": "web", "depends_on_past": True}) as clicks:
    BashOperator(task_id="clicks_hourly", bash_command="dbt run --select clicks_hourly", pool="wh", pool_slots=3,
                 inlets=[Asset("duckdb://shop/shop/raw/clicks")], outlets=[Asset("duckdb://shop/shop/main/clicks_hourly")])
