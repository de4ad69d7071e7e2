export { once } from '../yaml/once.ts';
