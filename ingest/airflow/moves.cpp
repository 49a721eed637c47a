#include "ingest/airflow/moves.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "graph/base/words.hpp"

namespace backreach {

namespace {

// Operators that bring data in or carry it about, with the arguments that tell from where to where: words
// joined by slashes behind the scheme, or by dots where there is none (a table). What takes data out is in
// operators.cpp.
struct Transfer {
  std::string_view operator_class, from, from_scheme, to, to_scheme, sql;
};
constexpr Transfer kTransfers[] = {
    {"GCSToBigQueryOperator", "bucket source_objects", "gs://", "destination_project_dataset_table",
     "bigquery/", ""},
    {"GoogleCloudStorageToBigQueryOperator", "bucket source_objects", "gs://",
     "destination_project_dataset_table", "bigquery/", ""},
    {"BigQueryToBigQueryOperator", "source_project_dataset_tables", "bigquery/",
     "destination_project_dataset_table", "bigquery/", ""},
    {"S3ToRedshiftOperator", "s3_bucket s3_key", "s3://", "schema table", "", ""},
    {"S3ToSqlOperator", "s3_bucket s3_key", "s3://", "schema table", "", ""},
    {"S3ToMySqlOperator", "s3_source_key", "s3://", "mysql_table", "", ""},
    {"S3ToHiveOperator", "s3_key", "s3://", "hive_table", "", ""},
    {"S3ToTeradataOperator", "s3_source_key", "s3://", "teradata_table", "", ""},
    {"S3ToGCSOperator", "bucket prefix", "s3://", "dest_gcs", "", ""},
    {"S3CopyObjectOperator", "source_bucket_name source_bucket_key", "s3://",
     "dest_bucket_name dest_bucket_key", "s3://", ""},
    {"S3FileTransformOperator", "source_s3_key", "s3://", "dest_s3_key", "s3://", ""},
    {"GCSToGCSOperator", "source_bucket source_object", "gs://", "destination_bucket destination_object",
     "gs://", ""},
    {"GCSFileTransformOperator", "source_bucket source_object", "gs://",
     "destination_bucket destination_object", "gs://", ""},
    {"GCSSynchronizeBucketsOperator", "source_bucket source_object", "gs://",
     "destination_bucket destination_object", "gs://", ""},
    {"GCSToPrestoOperator", "source_bucket source_object", "gs://", "presto_table", "", ""},
    {"GCSToTrinoOperator", "source_bucket source_object", "gs://", "trino_table", "", ""},
    {"CopyFromExternalStageToSnowflakeOperator", "prefix files", "stage ", "schema table", "", ""},
    {"S3ToSnowflakeOperator", "s3_keys", "stage ", "schema table", "", ""},
    {"DatabricksCopyIntoOperator", "file_location", "", "table_name", "", ""},
    {"AzureBlobStorageToS3Operator", "container_name prefix", "wasb://", "dest_s3_key", "s3://", ""},
    {"AzureBlobStorageToGCSOperator", "container_name blob_name", "wasb://", "bucket_name object_name",
     "gs://", ""},
    {"AzureBlobStorageToTeradataOperator", "blob_source_key", "wasb://", "teradata_table", "", ""},
    {"ADLSToGCSOperator", "src_adls", "adls://", "dest_gcs", "", ""},
    {"FileTransferOperator", "src", "", "dst", "", ""},
    {"DataSyncOperator", "source_location_uri", "", "destination_location_uri", "", ""},
    {"CloudDataTransferServiceS3ToGCSOperator", "s3_bucket s3_path", "s3://", "gcs_bucket gcs_path", "gs://",
     ""},
    {"CloudDataTransferServiceGCSToGCSOperator", "source_bucket source_path", "gs://",
     "destination_bucket destination_path", "gs://", ""},
    {"FTPToS3Operator", "ftp_path", "ftp:", "s3_bucket s3_key", "s3://", ""},
    {"SFTPToS3Operator", "sftp_path", "sftp:", "s3_bucket s3_key", "s3://", ""},
    {"SFTPToGCSOperator", "source_path", "sftp:", "destination_bucket destination_path", "gs://", ""},
    {"SFTPToWasbOperator", "sftp_source_path", "sftp:", "container_name blob_prefix", "wasb://", ""},
    {"HttpToS3Operator", "endpoint", "http:", "s3_bucket s3_key", "s3://", ""},
    {"HttpToGCSOperator", "endpoint", "http:", "bucket_name object_name", "gs://", ""},
    {"ImapAttachmentToS3Operator", "imap_attachment_name", "imap:", "s3_key", "s3://", ""},
    {"GoogleSheetsToGCSOperator", "spreadsheet_id", "sheets:", "destination_bucket destination_path", "gs://",
     ""},
    {"GoogleDriveToGCSOperator", "folder_id file_name", "drive:", "bucket_name object_name", "gs://", ""},
    {"GoogleCalendarToGCSOperator", "calendar_id", "calendar:", "destination_bucket destination_path",
     "gs://", ""},
    {"VerticaToHiveOperator", "", "", "hive_table", "", "sql"},
    {"MySqlToHiveOperator", "", "", "hive_table", "", "sql"},
    {"MsSqlToHiveOperator", "", "", "hive_table", "", "sql"},
    {"OracleToOracleOperator", "", "", "destination_table", "", "source_sql"},
    {"TeradataToTeradataOperator", "", "", "destination_table", "", "sql"},
    {"GenericTransfer", "", "", "destination_table", "", "sql"},
};

bool IsTemplate(const std::string& text) {
  return text.find("{{") != std::string::npos || text.find("{%") != std::string::npos;
}
bool IsCut(const std::string& text) { return StartsWith(text, "Truncated. You can change this behaviour"); }

// The first word of a statement, comments and Jinja left out.
bool LooksLikeSql(const std::string& text) {
  const SqlTokens tokens = TokenizeSql(text);
  std::size_t i = 0;
  while (i < tokens.size() && tokens[i].kind == SqlToken::Kind::kBlock) ++i;
  if (i + 2 >= tokens.size()) return false;
  for (const char* verb : {"SELECT", "INSERT", "MERGE", "UPDATE", "DELETE", "CREATE", "WITH", "COPY",
                           "TRUNCATE", "UNLOAD", "EXPORT"})
    if (tokens[i].Is(verb)) return true;
  return false;
}

// Texts of a value: itself, or the items of a list.
std::vector<std::string> Texts(const Json* j) {
  std::vector<std::string> out;
  if (!j) return out;
  const Json& v = Unwrap(*j);
  if (v.is_string()) out.push_back(v.get<std::string>());
  if (v.is_array())
    for (const Json& item : v)
      if (item.is_string()) out.push_back(item.get<std::string>());
  return out;
}

class Mover {
 public:
  Mover(const Json& task, const TaskView& view, const std::string& space,
        const std::vector<std::string>& assets, JobFact& job, Facts& facts, std::set<std::string>& known)
      : task_(task),
        view_(view),
        space_(space),
        assets_(assets),
        job_(job),
        facts_(facts),
        into_{facts, known, [this](const std::string& name) { return NameOf(name); }} {}

  void Make() {
    const std::string type = LastPart(TextAt(task_, {"task_type", "_task_type"}).value_or(""));
    for (const char* key :
         {"conn_id", "snowflake_conn_id", "postgres_conn_id", "redshift_conn_id", "gcp_conn_id"})
      if (const Text conn = view_.GetText({key}); conn && !IsTemplate(*conn) && connection_.empty())
        connection_ = *conn;
    const Transfer* transfer = nullptr;
    for (const Transfer& t : kTransfers)
      if (type == t.operator_class) transfer = &t;
    if (transfer)
      Carry(*transfer);
    else
      Sql();
    BigQueryJob();
  }

 private:
  static std::string LastPart(const std::string& path) { return path.substr(path.rfind('.') + 1); }

  // The asset that alone ends in these parts; else a name under the task's connection.
  std::string NameOf(const std::string& name) const {
    if (name.find("://") != std::string::npos || StartsWith(name, "bigquery/")) return name;
    std::string path = "/" + Lower(name);
    std::replace(path.begin(), path.end(), '.', '/');
    const std::string* found = nullptr;
    if (name.find('.') != std::string::npos)
      for (const std::string& uri : assets_)
        if (EndsWith(Lower(uri), path) || EndsWith(Lower(uri), "." + Lower(name)) ||
            EndsWith(Lower(uri), "/" + Lower(name))) {
          if (found) return Local(name);
          found = &uri;
        }
    return found ? *found : Local(name);
  }
  std::string Local(const std::string& name) const {
    return space_ + "/" + (connection_.empty() ? "" : connection_ + "/") + name;
  }

  // The statements of all template fields, joined: a temporary table may be made in one and read in the next.
  void Sql() {
    std::vector<std::string> texts;
    std::set<std::string> done;
    const auto field = [&](const std::string& name, bool named_sql) {
      if (!done.insert(name).second) return;
      for (const std::string& text : Texts(Find(task_, {name.c_str()})))
        if (!IsCut(text) && (named_sql || LooksLikeSql(text))) texts.push_back(text);
      for (const Json* expanded : {Expanded(name)})
        for (const std::string& text : Texts(expanded))
          if (!IsCut(text) && (named_sql || LooksLikeSql(text))) texts.push_back(text);
    };
    for (const char* name : {"sql", "query", "hql", "select_query"}) field(name, true);
    if (const Json* fields = view_.Get({"template_fields"}); fields && Unwrap(*fields).is_array())
      for (const Json& name : Unwrap(*fields))
        if (name.is_string() && name != "bash_command" && name != "python_callable")
          field(name.get<std::string>(), false);
    for (std::string& text : texts)
      if (EndsWith(text, ".sql") && text.find(' ') == std::string::npos)
        text.clear();  // a file that was not read
    const std::string sql = Join(texts, "\n;\n");
    if (!sql.empty()) Take(MovesOf(sql));
  }

  // A mapped task's argument.
  const Json* Expanded(const std::string& name) const {
    const Json* input = Find(task_, {"expand_input"});
    const Json* value = input ? Find(Unwrap(*input), {"value"}) : nullptr;
    return value ? Find(Unwrap(*value), {name.c_str()}) : nullptr;
  }

  void Take(const SqlMoves& moves) {
    const std::size_t before = facts_.datasets.size();
    AddMoves(moves, job_, into_);
    // A name of the task's own connection is also known by what the SQL calls it.
    for (std::size_t i = before; i < facts_.datasets.size(); ++i) {
      DatasetFact& fact = facts_.datasets[i];
      if (StartsWith(fact.name, space_ + "/"))
        fact.short_names.push_back(fact.name.substr(fact.name.rfind('/') + 1));
    }
  }

  // What the words of a transfer name: one, or one for each item of its last list.
  std::vector<SqlTable> Named(std::string_view words, std::string_view scheme) const {
    std::vector<std::string> heads = {""};
    const bool dots = scheme.empty() || scheme == "bigquery/";
    for (const std::string& word : Split(words, ' ')) {
      if (word.empty()) continue;
      const std::vector<std::string> values = Texts(view_.Get({word.c_str()}));
      if (values.empty()) continue;
      std::vector<std::string> next;
      for (const std::string& head : heads)
        for (const std::string& value : values)
          next.push_back(head.empty() ? value : head + (dots ? "." : "/") + value);
      heads = std::move(next);
    }
    std::vector<SqlTable> out;
    for (std::string& name : heads) {
      if (name.empty()) continue;
      if (scheme == "bigquery/") {
        std::replace(name.begin(), name.end(), ':', '.');
        name = name.substr(0, name.find('$'));
      } else if (const auto star = name.find('*'); star != std::string::npos) {
        name = name.substr(0, name.rfind('/', star));  // the folder of what matches
      }
      if (name.find("://") == std::string::npos) name = std::string(scheme) + name;
      out.push_back({name, IsTemplate(name)});
    }
    return out;
  }

  void Carry(const Transfer& t) {
    SqlMoves moves;
    std::vector<SqlTable> from = Named(t.from, t.from_scheme);
    if (!t.sql.empty())
      for (const std::string& sql : Texts(view_.Get({std::string(t.sql).c_str()})))
        if (!IsCut(sql))
          for (SqlTable& table : TablesRead(sql)) from.push_back(std::move(table));
    moves.reads = from;
    for (SqlTable& to : Named(t.to, t.to_scheme)) moves.moves.push_back({std::move(to), from});
    Take(moves);
  }

  static std::string TableOf(const Json* j) {
    if (!j || !j->is_object()) return "";
    const Text project = TextAt(*j, {"projectId"}), dataset = TextAt(*j, {"datasetId"}),
               table = TextAt(*j, {"tableId"});
    if (!dataset || !table) return "";
    return "bigquery/" + (project ? *project + "." : "") + *dataset + "." +
           table->substr(0, table->find('$'));
  }

  // `configuration` of a BigQuery job: a query with a destination, a load, a copy.
  void BigQueryJob() {
    const Json* configuration = view_.Get({"configuration"});
    if (!configuration) return;
    const Json& c = Unwrap(*configuration);
    SqlMoves moves;
    if (const Json* query = Find(c, {"query"}); query && query->is_object()) {
      if (const Text sql = TextAt(*query, {"query"}); sql && !IsCut(*sql)) moves = MovesOf(*sql);
      if (const std::string to = TableOf(Find(*query, {"destinationTable"})); !to.empty())
        moves.moves.push_back({{to, IsTemplate(to)}, moves.reads});
    }
    if (const Json* load = Find(c, {"load"})) {
      for (const std::string& uri : Texts(Find(*load, {"sourceUris"}))) {
        const auto star = uri.find('*');
        const std::string name = star == std::string::npos ? uri : uri.substr(0, uri.rfind('/', star));
        moves.reads.push_back({name, IsTemplate(name)});
      }
      if (const std::string to = TableOf(Find(*load, {"destinationTable"})); !to.empty())
        moves.moves.push_back({{to, IsTemplate(to)}, moves.reads});
    }
    if (const Json* copy = Find(c, {"copy"})) {
      if (const std::string from = TableOf(Find(*copy, {"sourceTable"})); !from.empty())
        moves.reads.push_back({from, IsTemplate(from)});
      if (const std::string to = TableOf(Find(*copy, {"destinationTable"})); !to.empty())
        moves.moves.push_back({{to, IsTemplate(to)}, moves.reads});
    }
    if (!moves.empty()) Take(moves);
  }

  const Json& task_;
  const TaskView& view_;
  const std::string& space_;
  const std::vector<std::string>& assets_;
  JobFact& job_;
  Facts& facts_;
  std::string connection_;
  MovesInto into_;
};

}  // namespace

void AddTaskMoves(const Json& task, const TaskView& view, const std::string& space,
                  const std::vector<std::string>& assets, JobFact& job, Facts& facts,
                  std::set<std::string>& known) {
  Mover(task, view, space, assets, job, facts, known).Make();
}

}  // namespace backreach
