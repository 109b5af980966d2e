/** Lengths of the passwords of local owners, in characters. */
export const SHORTEST_PASSWORD = 14
export const LONGEST_PASSWORD = 1024
