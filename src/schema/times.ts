import {z} from 'zod'

/** A moment as clients give it: ISO 8601 with a zone; kept as UTC with milliseconds. */
export const Time = z.iso.datetime({offset: true}).transform(text => new Date(text).toISOString())
