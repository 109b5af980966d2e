import type {Seal} from '../../base/seal.ts'

/** The key of the digests in features: those of one installation are never those of another. */
export function featuresKey(seal: Pick<Seal, 'derived'>): Uint8Array {
  return seal.derived('semantic cache features')
}
