// Runs ZooKeeper's own classes for java.test.ts and capture-golden.ts. Reads one command per line and prints one reply
// per line.

import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStreamWriter;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.stream.Collectors;
import org.apache.jute.BinaryInputArchive;
import org.apache.jute.BinaryOutputArchive;
import org.apache.jute.OutputArchive;
import org.apache.jute.Record;
import org.apache.zookeeper.AddWatchMode;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.MultiOperationRecord;
import org.apache.zookeeper.MultiResponse;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.OpResult;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.common.PathUtils;
import org.apache.zookeeper.data.Id;
import org.apache.zookeeper.proto.CheckVersionRequest;
import org.apache.zookeeper.proto.Create2Response;
import org.apache.zookeeper.proto.CreateResponse;
import org.apache.zookeeper.proto.CreateTTLRequest;
import org.apache.zookeeper.proto.DeleteRequest;
import org.apache.zookeeper.proto.ErrorResponse;
import org.apache.zookeeper.proto.GetChildrenResponse;
import org.apache.zookeeper.proto.GetDataResponse;
import org.apache.zookeeper.proto.SetDataRequest;
import org.apache.zookeeper.proto.SetDataResponse;

public final class JuteEcho {
    /** Marks connect records with a trailing byte: 3.8 appends it by hand, from 3.9 on it is a field. */
    private static final String READ_ONLY = "+readOnly";

    public static void main(String[] args) throws IOException {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        BufferedWriter out = new BufferedWriter(new OutputStreamWriter(System.out, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String answer;
            try {
                answer = answer(line.split(" ", -1));
            } catch (Exception e) {
                answer = "! " + e.toString().replace('\n', ' ');
            }
            out.write(answer);
            out.write('\n');
            if (!in.ready()) {
                out.flush();
            }
        }
        out.flush();
    }

    private static String answer(String[] words) throws Exception {
        switch (words[0]) {
            case "echo":
                return echo(words[1], bytes(words[2]));
            case "random":
                return new Maker(Long.parseLong(words[2]), words[3], words[4]).make(words[1]);
            case "decode":
                return decode(words[1], bytes(words[2]));
            case "layouts":
                return json(layouts());
            case "numbers":
                return json(numbers());
            case "path":
                return valid(text(words[1]), words[2].equals("sequential")) ? "valid" : "invalid";
            case "string":
                return units(readString(bytes(words[1])));
            default:
                throw new IllegalArgumentException(words[0]);
        }
    }

    private static Record record(String name) throws ReflectiveOperationException {
        switch (name) {
            case "MultiRequest":
            case "MultiReadRequest":
                return new MultiOperationRecord();
            case "MultiResponse":
                return new MultiResponse();
            default:
                return (Record) classOf(name).getDeclaredConstructor().newInstance();
        }
    }

    private static Class<?> classOf(String name) throws ClassNotFoundException {
        try {
            return Class.forName("org.apache.zookeeper.proto." + name);
        } catch (ClassNotFoundException e) {
            return Class.forName("org.apache.zookeeper.data." + name);
        }
    }

    // Bytes

    private static String echo(String name, byte[] bytes) throws Exception {
        ByteArrayInputStream left = new ByteArrayInputStream(bytes);
        BinaryInputArchive in = BinaryInputArchive.getArchive(left);
        ByteArrayOutputStream written = new ByteArrayOutputStream();
        BinaryOutputArchive out = BinaryOutputArchive.getArchive(written);
        Record record = record(name.replace(READ_ONLY, ""));
        record.deserialize(in, "top");
        record.serialize(out, "top");
        if (name.endsWith(READ_ONLY)) {
            out.writeBool(in.readBool("readOnly"), "readOnly");
        }
        if (left.available() > 0) {
            throw new IOException(left.available() + " bytes left");
        }
        return hex(written.toByteArray());
    }

    /** @param names names of consecutive records, which must fill the bytes */
    private static String decode(String names, byte[] bytes) throws Exception {
        ByteArrayInputStream left = new ByteArrayInputStream(bytes);
        BinaryInputArchive in = BinaryInputArchive.getArchive(left);
        List<Object> all = new ArrayList<>();
        for (String name : names.split(",")) {
            Record record = record(name.replace(READ_ONLY, ""));
            record.deserialize(in, "top");
            Recorder recorder = new Recorder(false);
            record.serialize(recorder, "top");
            List<Object> fields = recorder.recorded();
            if (name.endsWith(READ_ONLY)) {
                fields.add(List.of("readOnly", in.readBool("readOnly")));
            }
            all.add(fields);
        }
        if (left.available() > 0) {
            throw new IOException(left.available() + " bytes left");
        }
        return json(all);
    }

    private static String readString(byte[] bytes) throws IOException {
        ByteArrayOutputStream framed = new ByteArrayOutputStream();
        BinaryOutputArchive.getArchive(framed).writeBuffer(bytes, "");
        return BinaryInputArchive.getArchive(new ByteArrayInputStream(framed.toByteArray())).readString("");
    }

    private static String hex(byte[] bytes) {
        StringBuilder hex = new StringBuilder();
        for (byte each : bytes) {
            hex.append(Character.forDigit(each >> 4 & 15, 16)).append(Character.forDigit(each & 15, 16));
        }
        return hex.toString();
    }

    private static byte[] bytes(String hex) {
        byte[] bytes = new byte[hex.length() / 2];
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = (byte) Integer.parseInt(hex.substring(2 * i, 2 * i + 2), 16);
        }
        return bytes;
    }

    // Strings are sent as UTF-16 code units, so that unpaired surrogates arrive unchanged.

    private static String units(String text) {
        StringBuilder units = new StringBuilder();
        text.chars().forEach(unit -> units.append(String.format("%04x", unit)));
        return units.toString();
    }

    private static String text(String units) {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < units.length(); i += 4) {
            text.append((char) Integer.parseInt(units.substring(i, i + 4), 16));
        }
        return text.toString();
    }

    // Paths

    private static boolean valid(String path, boolean sequential) {
        try {
            PathUtils.validatePath(path, sequential);
            return true;
        } catch (IllegalArgumentException e) {
            return false;
        }
    }

    // Layouts

    /** The fields that each class of the modules data and proto writes, in order. */
    private static Map<String, Object> layouts() throws Exception {
        Map<String, Object> layouts = new TreeMap<>();
        File jar = new File(Id.class.getProtectionDomain().getCodeSource().getLocation().toURI());
        try (JarFile entries = new JarFile(jar)) {
            for (JarEntry each : Collections.list(entries.entries())) {
                String entry = each.getName();
                if (!entry.matches("org/apache/zookeeper/(data|proto)/\\w+\\.class")) {
                    continue;
                }
                String name = entry.substring(entry.lastIndexOf('/') + 1, entry.lastIndexOf('.'));
                Recorder recorder = new Recorder(true);
                new Maker(0, "-", "-").oneOfEach().record(classOf(name)).serialize(recorder, "top");
                layouts.put(name, recorder.recorded());
            }
        }
        return layouts;
    }

    /** Records the tags that a record writes, in order, with their values or with their kinds. */
    private static final class Recorder implements OutputArchive {
        private final boolean kinds;
        private final Deque<List<Object>> open = new ArrayDeque<>();

        Recorder(boolean kinds) {
            this.kinds = kinds;
            open.push(new ArrayList<>());
        }

        /** Returns the fields of the only record that was written. */
        @SuppressWarnings("unchecked")
        List<Object> recorded() {
            return new ArrayList<>((List<Object>) ((List<Object>) open.peek().get(0)).get(1));
        }

        private void note(String tag, String kind, Object value) {
            open.peek().add(Arrays.asList(tag, kinds ? kind : value));
        }

        /** Since 3.9.0 the interface has this method too, so there is no annotation here. */
        public long getDataSize() {
            return 0;
        }

        @Override
        public void writeByte(byte b, String tag) {
            note(tag, "byte", b);
        }

        @Override
        public void writeBool(boolean b, String tag) {
            note(tag, "bool", b);
        }

        @Override
        public void writeInt(int i, String tag) {
            note(tag, "int", i);
        }

        @Override
        public void writeLong(long l, String tag) {
            note(tag, "long", Math.abs(l) < 1L << 53 ? (Object) l : Long.toString(l));
        }

        @Override
        public void writeFloat(float f, String tag) {
            note(tag, "float", f);
        }

        @Override
        public void writeDouble(double d, String tag) {
            note(tag, "double", d);
        }

        @Override
        public void writeString(String s, String tag) {
            note(tag, "string", s);
        }

        @Override
        public void writeBuffer(byte[] bytes, String tag) {
            note(tag, "buffer", bytes == null ? null : hex(bytes));
        }

        @Override
        public void writeRecord(Record r, String tag) throws IOException {
            r.serialize(this, tag);
        }

        @Override
        public void startRecord(Record r, String tag) {
            open.push(new ArrayList<>());
        }

        @Override
        public void endRecord(Record r, String tag) {
            List<Object> fields = open.pop();
            open.peek().add(Arrays.asList(tag, fields));
        }

        @Override
        public void startVector(List<?> v, String tag) {
            open.push(new ArrayList<>());
        }

        @Override
        public void endVector(List<?> v, String tag) {
            List<Object> elements = new ArrayList<>();
            for (Object tagged : open.pop()) {
                elements.add(((List<?>) tagged).get(1));
            }
            open.peek().add(Arrays.asList(tag, v == null ? null : Map.of("vector", elements)));
        }

        @Override
        public void startMap(TreeMap<?, ?> v, String tag) {
            throw new UnsupportedOperationException("a map");
        }

        @Override
        public void endMap(TreeMap<?, ?> v, String tag) {
            throw new UnsupportedOperationException("a map");
        }
    }

    // Random instances

    /** Fills records through their setters. */
    private static final class Maker {
        private final Random random;
        private final Set<String> nullable;
        private final Set<String> times;
        private boolean oneOfEach;

        /** @param times fields whose 64 bits must fit into a double */
        Maker(long seed, String nullable, String times) {
            // Random starts alike for consecutive seeds, so seeds are scattered first.
            this.random = new Random(seed * 0x9e37_79b9_7f4a_7c15L);
            this.nullable = Set.of(nullable.split(","));
            this.times = Set.of(times.split(","));
        }

        Maker oneOfEach() {
            oneOfEach = true;
            return this;
        }

        String make(String name) throws Exception {
            ByteArrayOutputStream written = new ByteArrayOutputStream();
            BinaryOutputArchive out = BinaryOutputArchive.getArchive(written);
            if (name.startsWith("Multi") && !name.equals("MultiHeader")) {
                multi(name).serialize(out, "top");
            } else {
                record(classOf(name.replace(READ_ONLY, ""))).serialize(out, "top");
            }
            if (name.endsWith(READ_ONLY)) {
                out.writeBool(random.nextBoolean(), "readOnly");
            }
            return hex(written.toByteArray());
        }

        <R> R of(Class<R> type) throws ReflectiveOperationException {
            return type.cast(record(type));
        }

        Record record(Class<?> type) throws ReflectiveOperationException {
            Record record = (Record) type.getDeclaredConstructor().newInstance();
            Method[] setters = type.getMethods();
            // Sorted, because getMethods() has no fixed order, and equal seeds must give equal values.
            Arrays.sort(setters, Comparator.comparing(Method::getName));
            for (Method setter : setters) {
                if (setter.getName().startsWith("set") && setter.getParameterCount() == 1) {
                    String field = setter.getName().substring(3, 4).toLowerCase() + setter.getName().substring(4);
                    setter.invoke(record, value(setter.getGenericParameterTypes()[0], field));
                }
            }
            return record;
        }

        private Object value(Type type, String field) throws ReflectiveOperationException {
            if (nullable.contains(field) && random.nextInt(4) == 0) {
                return null;
            }
            if (type == int.class) {
                return random.nextInt() >> random.nextInt(32);
            }
            if (type == long.class) {
                return random.nextLong() >> (times.contains(field) ? 11 + random.nextInt(53) : random.nextInt(64));
            }
            if (type == boolean.class) {
                return random.nextBoolean();
            }
            if (type == String.class) {
                return string();
            }
            if (type == byte[].class) {
                return bytes();
            }
            if (type instanceof ParameterizedType) {
                Type element = ((ParameterizedType) type).getActualTypeArguments()[0];
                List<Object> elements = new ArrayList<>();
                for (int left = oneOfEach ? 1 : random.nextInt(4); left > 0; left--) {
                    elements.add(value(element, ""));
                }
                return elements;
            }
            return record((Class<?>) type);
        }

        /**
         * Returns a string of the basic plane, because BinaryOutputArchive writes surrogates one by one, which is not
         * UTF-8.
         */
        private String string() {
            StringBuilder text = new StringBuilder();
            for (int left = random.nextInt(10); left > 0; left--) {
                char unit = (char) (random.nextInt(0x10000) >> random.nextInt(16));
                text.append(Character.isSurrogate(unit) ? '\u8a9e' : unit);
            }
            return text.toString();
        }

        private byte[] bytes() {
            if (!oneOfEach && random.nextInt(5) == 0) {
                return null;
            }
            byte[] bytes = new byte[random.nextInt(20)];
            random.nextBytes(bytes);
            return bytes;
        }

        private Record multi(String name) throws ReflectiveOperationException {
            int size = random.nextInt(5);
            if (name.equals("MultiResponse")) {
                MultiResponse response = new MultiResponse();
                for (int i = 0; i < size; i++) {
                    response.add(result());
                }
                return response;
            }
            MultiOperationRecord request = new MultiOperationRecord();
            for (int i = 0; i < size; i++) {
                request.add(name.equals("MultiRequest") ? change() : read());
            }
            return request;
        }

        private Op read() {
            return random.nextBoolean() ? Op.getData(string()) : Op.getChildren(string());
        }

        private Op change() throws ReflectiveOperationException {
            switch (random.nextInt(5)) {
                case 0:
                    DeleteRequest delete = of(DeleteRequest.class);
                    return Op.delete(delete.getPath(), delete.getVersion());
                case 1:
                    SetDataRequest set = of(SetDataRequest.class);
                    return Op.setData(set.getPath(), set.getData(), set.getVersion());
                case 2:
                    CheckVersionRequest check = of(CheckVersionRequest.class);
                    return Op.check(check.getPath(), check.getVersion());
                default:
                    CreateTTLRequest create = of(CreateTTLRequest.class);
                    CreateMode mode = CreateMode.values()[random.nextInt(CreateMode.values().length)];
                    return Op.create(create.getPath(), create.getData(), create.getAcl(), mode, create.getTtl());
            }
        }

        private OpResult result() throws ReflectiveOperationException {
            switch (random.nextInt(8)) {
                case 0:
                    return new OpResult.CreateResult(of(CreateResponse.class).getPath());
                case 1:
                    Create2Response created = of(Create2Response.class);
                    return new OpResult.CreateResult(created.getPath(), created.getStat());
                case 2:
                    return new OpResult.DeleteResult();
                case 3:
                    return new OpResult.SetDataResult(of(SetDataResponse.class).getStat());
                case 4:
                    return new OpResult.CheckResult();
                case 5:
                    return new OpResult.GetChildrenResult(of(GetChildrenResponse.class).getChildren());
                case 6:
                    GetDataResponse got = of(GetDataResponse.class);
                    return new OpResult.GetDataResult(got.getData(), got.getStat());
                default:
                    return new OpResult.ErrorResult(of(ErrorResponse.class).getErr());
            }
        }
    }

    // Numbers

    private static Map<String, Object> numbers() throws IllegalAccessException {
        Map<String, Object> all = new LinkedHashMap<>();
        all.put("OpCode", constants(ZooDefs.OpCode.class));
        all.put("Perms", constants(ZooDefs.Perms.class));
        Map<String, Object> codes = table(all, "Code");
        for (KeeperException.Code code : KeeperException.Code.values()) {
            codes.put(code.name(), code.intValue());
        }
        Map<String, Object> createModes = table(all, "CreateMode");
        for (CreateMode mode : CreateMode.values()) {
            createModes.put(mode.name(), mode.toFlag());
        }
        Map<String, Object> eventTypes = table(all, "EventType");
        for (Watcher.Event.EventType type : Watcher.Event.EventType.values()) {
            eventTypes.put(type.name(), type.getIntValue());
        }
        Map<String, Object> keeperStates = table(all, "KeeperState");
        for (Watcher.Event.KeeperState state : Watcher.Event.KeeperState.values()) {
            keeperStates.put(state.name(), state.getIntValue());
        }
        Map<String, Object> watcherTypes = table(all, "WatcherType");
        for (Watcher.WatcherType type : Watcher.WatcherType.values()) {
            watcherTypes.put(type.name(), type.getIntValue());
        }
        Map<String, Object> addWatchModes = table(all, "AddWatchMode");
        for (AddWatchMode mode : AddWatchMode.values()) {
            addWatchModes.put(mode.name(), mode.getMode());
        }
        return all;
    }

    private static Map<String, Object> table(Map<String, Object> all, String name) {
        Map<String, Object> table = new LinkedHashMap<>();
        all.put(name, table);
        return table;
    }

    private static Map<String, Object> constants(Class<?> type) throws IllegalAccessException {
        Map<String, Object> constants = new LinkedHashMap<>();
        for (Field field : type.getFields()) {
            constants.put(field.getName(), field.getInt(null));
        }
        return constants;
    }

    // Replies

    private static String json(Object value) {
        if (value instanceof Map) {
            return ((Map<?, ?>) value).entrySet().stream()
                    .map(entry -> json(entry.getKey()) + ":" + json(entry.getValue()))
                    .collect(Collectors.joining(",", "{", "}"));
        }
        if (value instanceof List) {
            return ((List<?>) value).stream().map(JuteEcho::json).collect(Collectors.joining(",", "[", "]"));
        }
        if (value instanceof String) {
            return ((String) value).chars().mapToObj(JuteEcho::json).collect(Collectors.joining("", "\"", "\""));
        }
        return String.valueOf(value);
    }

    private static String json(int unit) {
        boolean plain = unit >= ' ' && unit < 0x7f && unit != '"' && unit != '\\';
        return plain ? Character.toString((char) unit) : String.format("\\u%04x", unit);
    }
}
