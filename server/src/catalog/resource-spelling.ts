/** Ways to write the vendors' resource names, which are also the keys of their taints. Each means one name and no other one that is known. */
const misspellings: readonly (readonly [pattern: RegExp, name: string])[] = [
  // nvidia.com/pgpu and nvidia.com/vgpu are names of their own (virtual machines).
  [/^n(?:vidia|vdia|vida|ividia|ivdia|videa|vidai|ivida)(?:\.com)?\/(?:gpus?|gup)$/i, 'nvidia.com/gpu'],
  [/^(?:nvidia\.com\.gpu|nvidia\.gpu|nvidia\.com-gpu|nvidia\.com_gpu)$/i, 'nvidia.com/gpu'],
  [/^alpha\.kubernetes\.io\/nvidia-gpu$/, 'nvidia.com/gpu'],
  [/^amd(?:\.com)?\/(?:gpus?|gup)$/i, 'amd.com/gpu'],
  [/^google(?:\.com)?\/tpus?$/i, 'google.com/tpu'],
  [/^cloud\.google\.com\/tpus?$/i, 'google.com/tpu'],
  [/^habana(?:\.ai)?\/gaudis?$/i, 'habana.ai/gaudi'],
  [/^aws\.amazon\.com\/neurons$/i, 'aws.amazon.com/neuron'],
  [/^aws\.amazon\.com\/neuroncores$/i, 'aws.amazon.com/neuroncore'],
];

/** The accelerator resource that a name was surely meant to be; undefined where it is right, or something else. */
export function meantResource(written: string): string | undefined {
  const meant = misspellings.find(([pattern]) => pattern.test(written))?.[1];
  return meant === written ? undefined : meant;
}
