/** What examples call things by that have no names of their own. */
export const POLICY = '0197f0a2-6d1e-4c3b-9f0e-2b1f6a1c9d20'
export const LOG = '0197f0a2-6d1e-7c3b-9f0e-2b1f6a1c9d11'
/** Of what has an id and no name: exports, saved filters, feedback. */
export const THING = '0197f0a2-6d1e-4c3b-9f0e-2b1f6a1c9d11'
export const SESSION = '0b6f2a52-7c1e-4f0e-9c38-6a4d1f2b3c4d'
export const MAPPING = '0b5f6c1e-8a55-4e0b-9d5c-3a8f0c1d2e3f'
export const ADMIN_KEY = 'gk-examples-admin-key-of-at-least-32-characters'
export const WORKSPACE_KEY = 'gk-examples-workspace-key-of-at-least-32-chars'

export type Inject = (method: string, path: string, body?: unknown) => Promise<Record<string, unknown>>
