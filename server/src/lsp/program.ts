import { runServer } from './node.ts';

runServer();
