import {availableParallelism} from 'node:os'
import {defineConfig} from 'vitest/config'

export default defineConfig({
  test: {
    globalSetup: ['test/support/run-folder.ts', 'test/support/bundle-threads.ts'],
    setupFiles: ['test/support/seed.ts', 'test/support/threads.ts'],
    include: ['test/**/*.test.ts'],
    exclude: ['test/binary.test.ts', 'test/bench/**'],
    pool: 'forks',
    // the threads of a gateway that runs from its sources use WebAssembly: bin/run.mjs says what this keeps from them
    execArgv: ['--no-wasm-generic-wrapper'],
    // of two processors both: the usual is all but one, and most tests wait for a server of their own half of the time
    maxWorkers: Math.max(2, availableParallelism() - 1),
    testTimeout: 20_000,
    hookTimeout: 30_000,
    // how long a busy machine may take until a condition holds; a test that waits for one fails at its own timeout else
    expect: {poll: {timeout: 15_000}},
  },
})
