import {defineConfig} from 'vitest/config'

/** The tests of the built executables; they need `npm run build -- --all` first, so `npm test` leaves them out. */
export default defineConfig({test: {include: ['test/binary.test.ts'], testTimeout: 120_000, hookTimeout: 60_000}})
