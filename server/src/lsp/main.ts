import { runServer } from './node.ts';

// The program that VS Code's client starts.
runServer();
