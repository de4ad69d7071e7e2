import { runServer } from '../process/compiled-code.ts';

// The entry point that VS Code's client starts. The server itself is ./program.ts.
runServer();
