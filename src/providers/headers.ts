/** Request headers that are sent to a provider: lower-case name → value. */
export type OutgoingHeaders = Record<string, string>
