import * as z from "zod";

const maxIdLength = 256;
const maxWordsLength = 4000;
/** An identifier, or the name of something. */
export const IdSchema = z.string().min(1).max(maxIdLength);
export const WordsSchema = z.string().min(1).max(maxWordsLength);
/** Milliseconds since the epoch. */
export const TimeMsSchema = z.int().nonnegative();
export const DurationMsSchema = z.int().positive();
export const SequenceSchema = z.int().positive();
/** The number of the last change that a reader has; 0 for none. */
export const AfterSeqSchema = z.int().nonnegative();
export const DigestSchema = z.string().regex(/^sha256:[0-9a-f]{64}$/);
