import {z} from 'zod'

/** Letters, digits, `_` and `-`: a slug is part of paths and of `@slug/model`, so nothing else may be in it. */
export const SLUG = /^[a-zA-Z0-9_-]+$/
export const Slug = z.string().min(1).max(255).regex(SLUG, 'expected letters, digits, - and _ only')
export const Name = z.string().trim().min(1, 'expected a name').max(255)
/** The name of a row in a path: its slug or its id. */
export const Handle = z.string().min(1).max(255)
