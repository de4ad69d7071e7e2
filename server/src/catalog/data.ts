/** The catalog's JSON files, in one module: the bundles that use them share one copy of it, dist/catalog.js. */
export { default as apiJson } from './data/api.json' with { type: 'json' };
export { default as fieldsJson } from './data/fields.json' with { type: 'json' };
export { default as flagsJson } from './data/flags.json' with { type: 'json' };
export { default as gpusJson } from './data/gpus.json' with { type: 'json' };
export { default as imagesJson } from './data/images.json' with { type: 'json' };
export { default as instancesJson } from './data/instances.json' with { type: 'json' };
export { default as interruptionsJson } from './data/interruptions.json' with { type: 'json' };
export { default as migJson } from './data/mig.json' with { type: 'json' };
export { default as modelsJson } from './data/models.json' with { type: 'json' };
export { default as platformsJson } from './data/platforms.json' with { type: 'json' };
export { default as pricesJson } from './data/prices.json' with { type: 'json' };
export { default as programsJson } from './data/programs.json' with { type: 'json' };
export { default as salesJson } from './data/sales.json' with { type: 'json' };
export { default as variablesJson } from './data/variables.json' with { type: 'json' };
