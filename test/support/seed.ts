import fc from 'fast-check'

/** Property tests draw the same values in every run, so that one that fails can be repeated; `TEST_SEED` has them draw others. */
fc.configureGlobal({seed: Number(process.env.TEST_SEED ?? 20_261_121)})
