export { type ChartModel, type ChartSeries, chartLimits, readChart } from "./chart.ts";
export { type FormField, type FormFieldType, type FormModel, formLimits, readForm } from "./form.ts";
export {
  type CheckedForm,
  checkForm,
  type FormValue,
  formRequest,
  type RawFormValues,
} from "./form-values.ts";
export { readTable, type TableColumn, type TableModel, tableLimits } from "./table.ts";
export { cardField, cardLine, safeLine } from "./values.ts";
