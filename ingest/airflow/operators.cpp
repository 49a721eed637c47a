// Operators that move data out, by the fields that name what and where to.

#include "ingest/airflow/operators.hpp"

namespace backreach {

const std::vector<ExportOperator>& ExportOperators() {
  static const std::vector<ExportOperator> operators = {
      {"BigQueryToGCSOperator", "source_project_dataset_table", "", "destination_cloud_storage_uris", ""},
      {"BigQueryToCloudStorageOperator", "source_project_dataset_table", "", "destination_cloud_storage_uris",
       ""},
      {"BigQueryToMySqlOperator", "dataset_id table_id", "", "target_table_name", "mysql:"},
      {"BigQueryToMsSqlOperator", "source_project_dataset_table", "", "target_table_name", "mssql:"},
      {"BigQueryToPostgresOperator", "dataset_id table_id", "", "target_table_name", "postgres:"},
      {"RedshiftToS3Operator", "schema table", "select_query", "s3_bucket s3_key", "s3://"},
      {"SqlToS3Operator", "", "query", "s3_bucket s3_key", "s3://"},
      {"ExasolToS3Operator", "", "query_or_table", "bucket_name key", "s3://"},
      {"DynamoDBToS3Operator", "dynamodb_table_name", "", "s3_bucket_name s3_key_prefix", "s3://"},
      {"MongoToS3Operator", "mongo_db mongo_collection", "", "s3_bucket s3_key", "s3://"},
      {"MongoToGCSOperator", "mongo_db mongo_collection", "", "bucket filename", "gs://"},
      {"HiveToDynamoDBOperator", "", "sql", "table_name", "dynamodb:"},
      {"HiveToMySqlOperator", "", "sql", "mysql_table", "mysql:"},
      {"HiveToSambaOperator", "", "hql", "destination_filepath", "smb:"},
      {"HiveToDruidOperator", "", "sql", "druid_datasource", "druid:"},
      {"PrestoToMySqlOperator", "", "sql", "mysql_table", "mysql:"},
      {"TrinoToMySqlOperator", "", "sql", "mysql_table", "mysql:"},
      {"VerticaToMySqlOperator", "", "sql", "mysql_table", "mysql:"},
      {"OracleToAzureDataLakeOperator", "", "sql", "azure_data_lake_path filename", "adl://"},
      {"MySQLToGCSOperator", "", "sql", "bucket filename", "gs://"},
      {"PostgresToGCSOperator", "", "sql", "bucket filename", "gs://"},
      {"MSSQLToGCSOperator", "", "sql", "bucket filename", "gs://"},
      {"OracleToGCSOperator", "", "sql", "bucket filename", "gs://"},
      {"PrestoToGCSOperator", "", "sql", "bucket filename", "gs://"},
      {"TrinoToGCSOperator", "", "sql", "bucket filename", "gs://"},
      {"CassandraToGCSOperator", "", "cql", "bucket filename", "gs://"},
      {"SQLToGoogleSheetsOperator", "", "sql", "spreadsheet_id spreadsheet_range", "sheets:"},
      {"SqlToSlackApiFileOperator", "", "sql", "slack_channels slack_filename", "slack:"},
      {"SqlToSlackWebhookOperator", "", "sql", "slack_channel", "slack:"},
      {"SqlToSlackOperator", "", "sql", "slack_channel slack_filename", "slack:"},
      {"S3ToSFTPOperator", "", "", "sftp_path", "sftp:"},
      {"S3ToFTPOperator", "", "", "ftp_path", "ftp:"},
      {"GCSToSFTPOperator", "", "", "destination_path", "sftp:"},
      {"GCSToSambaOperator", "", "", "destination_path", "smb:"},
      {"GCSToGoogleSheetsOperator", "", "", "spreadsheet_id spreadsheet_range", "sheets:"},
      {"GCSToGoogleDriveOperator", "", "", "destination_object", "drive:"},
      {"S3ToAzureBlobStorageOperator", "", "", "container_name blob_name", "wasb://"},
      {"S3ToDynamoDBOperator", "", "", "dynamodb_table_name", "dynamodb:"},
  };
  return operators;
}

}  // namespace backreach
