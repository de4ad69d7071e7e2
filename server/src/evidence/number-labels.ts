/** Labels of NVIDIA's GPU feature discovery and of Karpenter that hold whole numbers. */
export function isNumberLabel(key: string): boolean {
  return numbers.test(key) || isMebibyteLabel(key);
}

/** Labels whose number is an amount of memory in MiB. https://karpenter.sh/docs/concepts/scheduling/#well-known-labels */
export function isMebibyteLabel(key: string): boolean {
  return mebibytes.test(key);
}

const numbers =
  /^(?:nvidia\.com\/gpu\.(?:count|replicas)|(?:karpenter\.k8s\.aws|eks\.amazonaws\.com)\/instance-(?:(?:gpu|accelerator)-count|cpu))$/;
const mebibytes =
  /^(?:nvidia\.com\/gpu\.memory|(?:karpenter\.k8s\.aws|eks\.amazonaws\.com)\/instance-(?:gpu-)?memory|karpenter\.azure\.com\/sku-memory)$/;

/** Less than the smallest machine and the smallest GPU have, so it is meant in GB. */
const fewMebibytes = 512;

/** Which nodes a label in MiB selects if its amount was meant in GB. Undefined if the label or the amount is another one. */
export function gigabyteEffect(key: string, operator: string, value: string): 'none' | 'all' | undefined {
  if (!isMebibyteLabel(key) || !/^[1-9]\d{0,2}$/.test(value) || Number(value) >= fewMebibytes) return undefined;
  if (/^Gte?$/.test(operator)) return 'all';
  return /^(?:In|Lte?)$/.test(operator) ? 'none' : undefined;
}

/** Whether a value is written as a comparison, which selectors cannot make: `>=24`, `> 16GB`. */
export function isComparison(value: string): boolean {
  return /^[<>]=?\s{0,3}\d{1,12}(?:\.\d{1,4})?\s?(?:[KMGT]i?B?|MiB|GiB)?$/i.test(value);
}
