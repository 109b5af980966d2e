/** Request headers on their way to a provider: lower-case name → value. */
export type OutgoingHeaders = Record<string, string>
