import { imageParts } from '../catalog/images.ts';
import { either, oneOf, wordSet } from '../catalog/word-patterns.ts';
import { plural } from '../cost/money.ts';
import { lacksTensorRt } from '../evidence/frigate.ts';
import { isPlainCudaBuild } from '../evidence/gpu-programs.ts';
import { isExempt, knownRequests, requestWords } from '../evidence/requested-accelerators.ts';
import { plainBuild } from '../evidence/separate-builds.ts';
import { isValues } from '../model/values.ts';
import type { AcceleratorRequest, Container } from '../model/workload.ts';
import { isTemplated, type Located, spanOf } from '../yaml/cursor.ts';
import { shorten } from '../yaml/shorten.ts';
import { defineRule, type PodSetContext } from './rule.ts';

/**
 * A container with a GPU runs an image that cannot use it: one built for CPUs or for another vendor's GPUs, a web server or a database.
 *
 * ## Why
 *
 * An image with `cpu` in its name or tag contains libraries without CUDA or ROCm. It runs on CPU cores, while the container's GPU costs
 * money and stays idle. Several publishers mark only their builds for GPUs (`tensorflow/tensorflow:2.16.1-gpu`), so the plain tag is for
 * CPUs; for Ray's images, where PyTorch may bring its own CUDA libraries, this is information. An image built for CUDA cannot use an AMD
 * GPU or a Gaudi device, and one built for ROCm cannot use an NVIDIA GPU.
 *
 * ```yaml invalid
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: embed
 * spec:
 *   containers:
 *     - name: main
 *       image: registry.example/embed:1.4-cpu
 *       resources:
 *         limits:
 *           nvidia.com/gpu: 1
 * ```
 *
 * ```yaml valid
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: embed
 * spec:
 *   containers:
 *     - name: main
 *       image: registry.example/embed:1.4-cuda
 *       resources:
 *         limits:
 *           nvidia.com/gpu: 1
 * ```
 *
 * ## When it is silent
 *
 * For names that also mention a GPU or the right vendor, web servers and databases with a command, templates, infrastructure, and accelerators
 * that are not GPUs: their frameworks are often CPU builds with a plugin. For images built for NVIDIA's GPUs in containers with Intel's, which
 * decode video there. For Ollama with Vulkan.
 *
 * ## Sources
 *
 * - [PyTorch: CPU and GPU builds](https://pytorch.org/get-started/locally/)
 * - [TensorFlow: Docker images](https://www.tensorflow.org/install/docker)
 * - [Ray: GPUs with KubeRay](https://docs.ray.io/en/latest/cluster/kubernetes/user-guides/gpu.html)
 * - [Kubeflow: notebook images](https://www.kubeflow.org/docs/components/notebooks/container-images/)
 * - [llama.cpp: Docker images](https://github.com/ggml-org/llama.cpp/blob/master/docs/docker.md)
 * - [whisper.cpp: Dockerfiles of its images](https://github.com/ggml-org/whisper.cpp/tree/master/.devops)
 * - [LocalAI: container images](https://localai.io/basics/container/)
 * - [Open WebUI: Docker images and tags](https://docs.openwebui.com/getting-started/quick-start/install-methods/docker-images)
 * - [LinuxServer: faster-whisper](https://github.com/linuxserver/docker-faster-whisper)
 * - [rhasspy/wyoming-addons#3](https://github.com/rhasspy/wyoming-addons/issues/3)
 * - [Jupyter: selecting an image](https://jupyter-docker-stacks.readthedocs.io/en/latest/using/selecting.html)
 * - [vLLM: images for NVIDIA and for AMD](https://docs.vllm.ai/en/latest/deployment/docker.html)
 */
export default defineRule({
  topic: 'gpu-request',
  severity: 'warning',
  container(container, context) {
    // The tag alone names the build of an image whose repository the chart has.
    const image = container.image ?? container.tag;
    if (image === undefined || isTemplated(image.at) || isExempt(context.workload)) return;
    if (reportOtherVendor(container, image, context)) return;
    const requests = knownRequests(container).filter(({ resource }) =>
      /^(?:nvidia|amd|gpu\.intel)\.com\//.test(resource),
    );
    const name = image.value.split('@')[0] ?? '';
    const last = name.slice(name.lastIndexOf('/') + 1);
    if (reportPlainProgram(container, image, requests, context)) return;
    if (lacksTensorRt(image.value, context.document)) {
      context.report({
        message: `${shorten(last, 50)} has no TensorRT, which its detector needs: use the build with -tensorrt`,
        span: spanOf(image.at),
      });
      return;
    }
    const isCpuBuild = isForCpus.test(last) && !mentionsGpus.test(name);
    const areAll = (vendor: string) =>
      requests.length > 0 && requests.every(({ resource }) => resource.startsWith(`${vendor}.com/`));
    const amd = areAll('amd');
    if (areAll('gpu.intel') && isOlderOllama(image.value) && !container.env.some(({ name }) => forIntel.test(name))) {
      context.report({
        message: `${shorten(last, 50)} has no backend for Intel GPUs: it leaves the container's ${requestWords(requests)} idle`,
        span: spanOf(image.at),
      });
      return;
    }
    const plain = isCpuBuild || usesVulkan(container) ? undefined : container.image && plainBuild(image.value, amd);
    // What brings its own libraries may bring Intel's.
    const builds = plain?.bringsOwn === true && areAll('gpu.intel') ? undefined : plain;
    if (!isCpuBuild && builds === undefined) return;
    // The profiles of a chart's values share an image, but not the count: the message is the same for all.
    const counted = isValues(context.workload) ? requests.map((one) => ({ ...one, count: null })) : requests;
    const words = requests.length === 0 ? fieldWords(container, context) : requestWords(counted);
    if (words === undefined) return;
    if (builds === undefined) {
      context.report({
        message: `${shorten(last, 50)} is built for CPUs: it leaves the container's ${words} idle`,
        span: spanOf(image.at),
      });
      return;
    }
    context.report({
      severity: builds.bringsOwn === true ? 'info' : 'warning',
      message:
        builds.bringsOwn === true
          ? `${shorten(last, 50)} has no CUDA libraries: only packages that bring their own can use the container's ${words}`
          : `${shorten(last, 50)} is not built for ${amd ? 'AMD ' : ''}GPUs: it leaves the container's ${words} idle`,
      span: spanOf(image.at),
    });
  },
});

/** Whether an image is Ollama's own before it had a backend for Vulkan. https://github.com/ollama/ollama/issues/11247 */
function isOlderOllama(image: string): boolean {
  const { repository, tag = '' } = imageParts(image);
  const [, minor] = /^v?0\.(\d{1,2})\.\d+$/.exec(tag) ?? [];
  return /(?:^|\/)ollama\/ollama$/.test(repository) && minor !== undefined && Number(minor) < 12;
}

/** Variables of builds with a backend for them. */
const forIntel = /^(?:OLLAMA_(?:VULKAN|INTEL_GPU)|ONEAPI_|ZES_|SYCL_)/;

/** Whether Ollama may use GPUs of any vendor, which its plain image can. https://docs.ollama.com/gpu */
function usesVulkan({ env }: Container): boolean {
  return env.some(({ name, value }) => name === 'OLLAMA_VULKAN' && !/^(?:0|false)?$/i.test(value?.value ?? '1'));
}

/** The GPUs that a field of a custom resource requests for its only container, in words; undefined if there are none. */
function fieldWords(container: Container, { podSet }: PodSetContext): string | undefined {
  const [only, ...others] = podSet.accelerators;
  if (only?.requested.kind !== 'field' || only.form !== 'whole' || others.length > 0) return undefined;
  const isOnly = podSet.containers.every((one) => one === container || one.type === 'init');
  return isOnly && container.accelerators.length === 0 && only.perPod !== null && only.perPod > 0
    ? plural(only.perPod, 'GPU')
    : undefined;
}

/** The vendors whose accelerators containers use through their image's libraries, and the words by which images name them. */
const vendors = [
  {
    resource: /^nvidia\.com\//,
    name: 'NVIDIA GPUs',
    publisher: either(
      /^nvcr\.io\/nim\//,
      new RegExp(
        `^nvcr\\.io/nvidia/(?:${oneOf('pytorch tensorflow jax cuda tensorrt tritonserver nemo vllm sglang')})(?:[-/]|$)`,
      ),
      /^(?:docker\.io\/)?nvidia\/cuda$/,
    ),
    word: /^(?:(?:cuda|cudnn|tensorrt)\d*|cu1[1-3]\d)$/,
  },
  {
    resource: /^amd\.com\//,
    name: 'AMD GPUs',
    publisher: /^(?:docker\.io\/)?rocm\//,
    word: /^(?:rocm\d*|gfx\d+\w*|mi[23]\d(?:\d?x|\d))$/,
  },
  {
    resource: /^habana\.ai\//,
    name: 'Gaudi',
    publisher: /^vault\.habana\.ai\//,
    word: /^(?:gaudi\d?|habana|habanalabs|hpu)$/,
  },
  {
    resource: /^gpu\.intel\.com\//,
    name: 'Intel GPUs',
    // Intel also publishes images for other accelerators.
    publisher: /^(?:docker\.io\/)?openvino\//,
    word: /^(?:openvino|xpu|ipex|oneapi|sycl)$/,
    // Builds for NVIDIA's GPUs decode video on Intel's too.
    usesOthers: true,
  },
  // Their frameworks are often builds for other devices with a plugin.
  {
    resource: /^google\.com\/tpu$/,
    name: 'TPUs',
    publisher: /^(?:docker\.io\/)?vllm\/vllm-tpu$/,
    word: /^(?:tpu|libtpu)$/,
    usesOthers: true,
  },
  {
    resource: /^aws\.amazon\.com\/neuron/,
    name: 'AWS Neuron',
    publisher: /\/neuron\//,
    word: /^neuronx?$/,
    usesOthers: true,
  },
];

/** The words of an image's tag and of the last part of its repository. A name of one word may be a product's. */
function wordsOfImage(name: string, tag: string): readonly string[] {
  const [first, ...others] = [name, tag].map((part) => part.toLowerCase().split(/[-_.+]/));
  return [...(first !== undefined && first.length > 1 ? first : []), ...others.flat()];
}

/** Reports an image for the accelerators of one vendor in a container with those of another. */
function reportOtherVendor(container: Container, { value, at }: Located<string>, { report }: PodSetContext): boolean {
  const requests = knownRequests(container);
  const own = vendors.find(({ resource }) => requests.every((request) => resource.test(request.resource)));
  if (requests.length === 0 || own === undefined || own.usesOthers) return false;
  const { repository, tag = '' } = imageParts(value);
  const name = repository.slice(repository.lastIndexOf('/') + 1);
  const last = tag === '' ? name : `${name}:${tag}`;
  const words = wordsOfImage(name, tag);
  const named = vendors.filter((one) => one.publisher.test(repository) || words.some((word) => one.word.test(word)));
  const built = named.length === 0 && isPlainCudaBuild(value) ? vendors.slice(0, 1) : named;
  const [other] = built;
  if (other === undefined || built.length > 1 || other === own) return false;
  report({
    message: `${shorten(last, 50)} is built for ${other.name}: it cannot use the container's ${requestWords(requests)}`,
    span: spanOf(at),
  });
  return true;
}

/** Reports the image of a program that computes nothing on a GPU. NVIDIA's runtime adds nvidia-smi to any image: other commands may use it. */
function reportPlainProgram(
  { type, command, args }: Container,
  { value, at }: Located<string>,
  requests: readonly AcceleratorRequest[],
  { podSet, report }: PodSetContext,
): boolean {
  // Flags and subcommands go to the program of the image.
  const isOwn = (word: string) => word.startsWith('-') || ownWords.has(word);
  const runsOther = command.length > 0 || args.some(({ value }, index) => index === 0 && !isOwn(value));
  if (type !== 'app' || requests.length === 0 || runsOther || podSet.pods.max === 0) return false;
  const name = programOf(value);
  if (name === undefined) return false;
  const isStandIn = name === 'nginx' || name === 'httpd';
  report({
    // A web server with its own page is an example.
    severity: isStandIn ? 'info' : 'warning',
    oncePerFile: isStandIn,
    message: `${name} does not use GPUs: it leaves the container's ${requestWords(requests)} idle`,
    span: spanOf(at),
  });
  return true;
}

/** The program of an official image. */
function programOf(image: string): string | undefined {
  const { repository } = imageParts(image);
  const [name, owner, ...others] = repository.replace('docker.io/', '').split('/').reverse();
  if (owner !== undefined && name !== undefined && !mentionsGpus.test(image) && otherPrograms.has(`${owner}/${name}`))
    return name === 'server' || name === 'ui' ? `${owner}/${name}` : name;
  const isOfficial = others.length === 0 && (owner === undefined || owner === 'library' || owner === 'bitnami');
  return isOfficial && name !== undefined && plainPrograms.has(name) ? name : undefined;
}

/** Web servers, proxies, databases and brokers. */
const plainPrograms = wordSet(
  'nginx httpd caddy traefik haproxy redis valkey memcached postgres postgresql mysql mariadb mongo mongodb',
  'rabbitmq kafka nats etcd registry influxdb cassandra elasticsearch kibana logstash zookeeper eclipse-mosquitto',
  'neo4j couchdb telegraf phpmyadmin adminer wordpress ghost drupal tomcat consul vault',
);

/** Such programs, networks and downloads of home labs, and interfaces to models that other servers run, by the end of the repository. Read 2026-11-29. */
const otherPrograms = wordSet(
  'qdrant/qdrant semitechnologies/weaviate chromadb/chroma chroma-core/chroma minio/minio pgvector/pgvector redis/redis-stack',
  'grafana/grafana prom/prometheus berriai/litellm n8nio/n8n flowiseai/flowise langgenius/dify-web lobehub/lobe-chat',
  'searxng/searxng mintplexlabs/anythingllm danny-avila/librechat langfuse/langfuse',
  'qdm12/gluetun tailscale/tailscale cloudflare/cloudflared linuxserver/wireguard oauth2-proxy/oauth2-proxy',
  'linuxserver/qbittorrent linuxserver/sonarr linuxserver/radarr linuxserver/prowlarr linuxserver/bazarr linuxserver/sabnzbd',
  'linuxserver/lidarr linuxserver/readarr linuxserver/transmission linuxserver/overseerr linuxserver/tautulli sctx/overseerr fallenbagel/jellyseerr',
  'filebrowser/filebrowser portainer/portainer-ce pihole/pihole louislam/uptime-kuma gethomepage/homepage authelia/authelia binwiederhier/ntfy',
  'heartexlabs/label-studio mlflow/mlflow dpage/pgadmin4 confluentinc/cp-kafka langgenius/dify-api cvat/server cvat/ui nodered/node-red vaultwarden/server gitea/gitea',
  'git-sync/git-sync locustio/locust grafana/k6 prom/alertmanager prom/node-exporter kiwigrid/k8s-sidecar fluent/fluent-bit fluent/fluentd grafana/promtail grafana/loki',
  'elasticsearch/elasticsearch kibana/kibana opensearchproject/opensearch opensearchproject/opensearch-dashboards ankane/pgvector',
  'envoyproxy/envoy metabase/metabase apache/superset rancher/rancher jenkins/jenkins',
  'grafana/alloy otel/opentelemetry-collector otel/opentelemetry-collector-contrib timberio/vector',
);

/** Subcommands of such programs, and their own names. */
const ownWords = wordSet('server tunnel run start redis-server postgres mysqld mongod mariadbd');

const isForCpus = /(?:^|[-_.:])cpu(?:$|[-_.:])/i;

/** Anywhere in the name, because some images are built for both. */
const mentionsGpus = /gpu|cuda|rocm|cu\d\d|hpu|tpu|xpu|neuron|gaudi|habana/i;
