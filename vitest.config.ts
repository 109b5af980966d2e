import {defineConfig} from 'vitest/config'

export default defineConfig({
  test: {
    setupFiles: ['test/support/seed.ts'],
    include: ['test/**/*.test.ts'],
    exclude: ['test/binary.test.ts', 'test/bench/**'],
    pool: 'forks',
    testTimeout: 20_000,
    hookTimeout: 30_000,
  },
})
