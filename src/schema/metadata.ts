import {z} from 'zod'

const MOST = 50

/** Texts on every call of a key or a workspace, to filter logs and reports by; at most 50. */
export const Metadata = z
  .record(z.string().min(1).max(128), z.string().max(128))
  .refine(metadata => Object.keys(metadata).length <= MOST, `must have at most ${MOST} keys`)
export type Metadata = z.output<typeof Metadata>
