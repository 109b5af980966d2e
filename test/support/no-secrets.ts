import type {MappedSecrets} from '../../src/secrets/port.ts'

/** For data planes whose providers are mapped to no secret reference. */
export const NO_SECRETS: MappedSecrets = {
  valuesOf() {
    throw new Error('no secret is fetched here')
  },
  refused: async () => null,
}
