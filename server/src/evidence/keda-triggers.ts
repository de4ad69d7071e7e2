import { wordSet } from '../catalog/word-patterns.ts';
/**
 * The trigger types of KEDA.
 * https://github.com/kedacore/keda/blob/main/pkg/scaling/scalers_builder.go (2026-11-22) and, for those added since, https://keda.sh/docs/latest/scalers/
 */
export const triggerTypes = wordSet(
  'activemq apache-kafka arangodb artemis-queue aws-cloudwatch aws-dynamodb aws-dynamodb-streams',
  'aws-kinesis-stream aws-sqs-queue azure-app-insights azure-blob azure-data-explorer azure-eventhub',
  'azure-log-analytics azure-monitor azure-pipelines azure-queue azure-servicebus beanstalkd cassandra couchdb',
  'cpu cron datadog dynatrace elasticsearch etcd external external-push forgejo-runner gcp-cloudtasks gcp-pubsub',
  'gcp-stackdriver gcp-storage github-runner graphite huawei-cloudeye ibmmq influxdb kafka kubernetes-resource',
  'kubernetes-workload liiklus loki memory metrics-api mongodb mssql mysql nats-jetstream new-relic nsq',
  'openstack-metric openstack-swift postgresql predictkube prometheus pulsar rabbitmq redis redis-cluster',
  'redis-cluster-streams redis-sentinel redis-sentinel-streams redis-streams selenium-grid solace-dmr',
  'solace-event-queue solarwinds solr splunk splunk-observability stan sumologic temporal',
);
