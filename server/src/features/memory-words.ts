import type { Engine } from '../command/engines.ts';
import { formatGiB, formatNumber } from '../cost/money.ts';
import type { CardFit } from '../memory/fit.ts';
import { longestContext, sequences } from '../memory/fit.ts';
import { type OwnChoice, ownChoiceOf } from '../memory/own-choices.ts';
import type { MemoryEstimate, NoMemoryEstimate } from '../memory/serving.ts';
import { shorten } from '../yaml/shorten.ts';

/** `fits in 15.6 of 22 GiB`, `needs 75.2 of 22 GiB: too much`; with several devices, of each. */
export function fitWords(estimate: MemoryEstimate, fit: CardFit): string {
  const { neededGiB, devices, ranks } = estimate;
  const verb = fit.fits === true ? 'fits in' : fit.fits === null ? 'needs about' : 'needs';
  const short = fit.fits === false ? `: ${shortWords(estimate, fit)}` : '';
  return `${verb} ${ofWords(neededGiB, fit.haveGiB)}${devices > 1 ? ` per ${unitOf(ranks)}` : ''}${short}`;
}

/** What a device is called: several ranks share the cores of a Neuron device. */
export function unitOf(ranks: number): string {
  return ranks > 1 ? 'device' : 'GPU';
}

/** `too much`; if the device would hold it, but not the part of it that the server reserves: `more than the reserved 90%`. */
function shortWords({ neededGiB, fraction }: MemoryEstimate, { haveGiB }: CardFit): string {
  return fraction === null || neededGiB > haveGiB ? 'too much' : `more than the reserved ${percent(fraction)}`;
}

function percent(share: number): string {
  return `${formatNumber(Math.round(share * 100))}%`;
}

/** `8.3 of 79.2 GiB`: a need and what a process finds on the device, in the same words everywhere. */
export function ofWords(needGiB: number, haveGiB: number): string {
  return `${formatGiB(needGiB)} of ${formatGiB(haveGiB)} GiB`;
}

/** ` (10%)`, ` (68 GiB short)`, ` (97%: more than the reserved 90%)`. */
export function shareWords(estimate: MemoryEstimate, fit: CardFit): string {
  const { neededGiB } = estimate;
  if (neededGiB > fit.haveGiB) return ` (${formatGiB(neededGiB - fit.haveGiB)} GiB short)`;
  return ` (${percent(neededGiB / fit.haveGiB)}${fit.fits === false ? `: ${shortWords(estimate, fit)}` : ''})`;
}

/** Of formats whose files differ more from each other than the estimates of others. */
function errorWords({ weightsError }: MemoryEstimate): string {
  return weightsError > 0.05 ? `, ±${percent(weightsError)}` : '';
}

function basisWords({ basis, name }: MemoryEstimate): string {
  if (basis === 'name') return '';
  if (basis === 'config') return ', shape from its config.json in the workspace';
  return basis === 'family'
    ? `, shape of the base model of ${shorten(name)}`
    : `, from the ${basis === 'size' ? 'stated parameter count' : 'parameter count in its name'}; KV cache and buffers as for a published model of this size`;
}

/** The settings behind an estimate, one line each. */
export function assumptionsOf(estimate: MemoryEstimate): readonly string[] {
  const { served, format, context, contextFrom, slots, tensor, pipeline, ranks, fraction } = estimate;
  const own = ownChoiceOf(served);
  const version = served.version === null ? '' : ` ${served.version.join('.')}`;
  return [
    `Weights in ${format}${errorWords(estimate)}${basisWords(estimate)}`,
    `${slots > 1 ? `${slots} requests` : 'One request'} of ${formatNumber(context)} tokens (${origins[contextFrom]}); more concurrent requests need more KV cache`,
    ...(tensor * pipeline > 1
      ? [
          `Spread over ${tensor * pipeline} ${ranks > 1 ? `NeuronCores, ${ranks} per device` : 'GPUs'} (tensor ${tensor}, pipeline ${pipeline})`,
        ]
      : []),
    `Buffers of ${engineNames[served.engine]}${version}${served.eager ? ' without CUDA graphs' : ''}: estimated by formula (docs/memory.md)`,
    ...(fraction === null ? [] : [`The server reserves ${percent(fraction)} of the ${unitOf(ranks)}'s memory`]),
    ...(own === null ? [] : [`${engineNames[served.engine]} ${ownChoices[own]}`]),
    ...served.extras.map((extra) => `Not included: ${extra}`),
    ...(served.open.length === 0 ? [] : [`Settings may be missing: ${served.open[0]}`]),
  ];
}

const origins: Readonly<Record<MemoryEstimate['contextFrom'], string>> = {
  flag: 'set',
  model: "the model's maximum",
  engine: "the server's default",
  memory: 'the least: the server takes as many as fit',
};

const engineNames: Readonly<Record<Engine, string>> = {
  vllm: 'vLLM',
  sglang: 'SGLang',
  tgi: 'TGI',
  'tensorrt-llm': 'TensorRT-LLM',
  lmdeploy: 'LMDeploy',
  nim: 'NIM',
  'llama-cpp': 'llama.cpp',
  ollama: 'Ollama',
  triton: 'Triton',
  embeddings: 'the embedding server',
  transformers: 'Transformers',
};

const ownChoices: Readonly<Record<OwnChoice, string>> = {
  format: 'may choose a smaller weight format',
  layers: "keeps layers in the node's memory if the GPU is too small",
  length: 'lowers the maximum request length if the KV cache is too small',
};

/** What the rest of a device holds: `12 requests of 8,192 tokens fit at once`; undefined if the cache does not matter. */
export function roomWords(estimate: MemoryEstimate, { haveGiB }: CardFit): string | undefined {
  const many = sequences(estimate, haveGiB);
  const longest = longestContext(estimate, haveGiB);
  if (many === null || longest === null || (many < 1 && longest < 1)) return undefined;
  if (many < 1) return `The longest request that fits is about ${formatNumber(longest)} tokens`;
  const requests = many === 1 ? 'One request' : `About ${formatNumber(many)} requests`;
  return `${requests} of ${formatNumber(estimate.context)} tokens fit${many === 1 ? 's' : ' at once'}`;
}

/** Why there is no figure; undefined if no model is served. */
export function unknownWords(unknown: NoMemoryEstimate): string | undefined {
  switch (unknown.kind) {
    case 'noShape':
      return `no shape is known for ${shorten(unknown.name)}`;
    case 'format':
      return `the size of weights in ${shorten(unknown.name)} format is unknown`;
    case 'cacheType':
      return `the size of a KV cache of type ${shorten(unknown.name)} is unknown`;
    case 'context':
      return 'the maximum request length cannot be read';
    case 'ownFormat':
      return `${engineNames[unknown.engine]} chooses the weight format, and the published one does not fit`;
    case 'offload':
      return "an unknown part of the weights stays in the node's memory";
    case 'inputs':
      return `${shorten(unknown.name)} needs memory in proportion to its inputs`;
    case 'unnamed':
      return unknown.detail ?? undefined;
    default:
      return undefined;
  }
}
